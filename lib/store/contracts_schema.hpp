// SPDX-License-Identifier: GPL-2.0-or-later
// The tables and views of contracts.db.
#pragma once

#include <array>

#include "store/sqlite.hpp"

namespace accord::contracts_schema {

/// A version's row has what is read often before what is large. `members` is a JSON array of uids.
inline constexpr const char* version_1 = R"sql(
CREATE TABLE generation (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
INSERT INTO generation VALUES (1, 0);

CREATE TABLE contract_version (
    key TEXT NOT NULL, version INTEGER NOT NULL, hash TEXT NOT NULL, recorded TEXT NOT NULL, model TEXT NOT NULL,
    text TEXT NOT NULL, UNIQUE (key, version));
CREATE TABLE contract_head (
    key TEXT PRIMARY KEY, version INTEGER NOT NULL, proposed_version INTEGER, state TEXT NOT NULL, changed TEXT NOT NULL,
    members TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE user (uid INTEGER PRIMARY KEY, name TEXT NOT NULL, exempt INTEGER NOT NULL);
CREATE TABLE event_record (
    id INTEGER PRIMARY KEY, contract TEXT NOT NULL, version INTEGER NOT NULL, time TEXT NOT NULL, event TEXT NOT NULL,
    uid INTEGER NOT NULL, login_uid INTEGER NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL, contract_hash TEXT NOT NULL,
    detail TEXT NOT NULL, prev_hash TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX event_record_contract ON event_record (contract);

CREATE TRIGGER contract_version_insert BEFORE INSERT ON contract_version
    WHEN EXISTS (SELECT 1 FROM contract_version WHERE key = new.key AND version = new.version)
    BEGIN SELECT RAISE(ABORT, 'versions are append-only'); END;
CREATE TRIGGER contract_version_update BEFORE UPDATE ON contract_version
    BEGIN SELECT RAISE(ABORT, 'versions are append-only'); END;
CREATE TRIGGER contract_version_delete BEFORE DELETE ON contract_version
    BEGIN SELECT RAISE(ABORT, 'versions are append-only'); END;
CREATE TRIGGER event_record_insert BEFORE INSERT ON event_record
    WHEN EXISTS (SELECT 1 FROM event_record WHERE id = new.id)
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_record_update BEFORE UPDATE ON event_record
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_record_delete BEFORE DELETE ON event_record
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

CREATE VIEW contract AS SELECT
    key AS contract, json_extract(model, '$.account') AS account, json_extract(model, '$.partition') AS partition,
    version, proposed_version, state, changed,
    strftime('%Y-%m-%dT%H:%M:%SZ', json_extract(model, '$.valid_from_s'), 'unixepoch') AS valid_from,
    strftime('%Y-%m-%dT%H:%M:%SZ', json_extract(model, '$.valid_until_s'), 'unixepoch') AS valid_until,
    json_extract(model, '$.purpose') AS purpose, json_extract(model, '$.environment') AS environment,
    json_extract(model, '$.owners.business') AS business_owner,
    json_extract(model, '$.owners.operations') AS operations_owner,
    json_extract(model, '$.owners.cost') AS cost_owner, json_extract(model, '$.owners.cost_center') AS cost_center,
    (SELECT sum(json_extract(value, '$.guaranteed')) FROM json_each(model, '$.capacity')) AS guaranteed_gpus,
    (SELECT group_concat(key) FROM json_each(model, '$.capacity')) AS gpu_types,
    json_array_length(members) AS members, hash, text
    FROM contract_head JOIN contract_version USING (key, version);
CREATE VIEW contract_event AS SELECT
    id, contract, version, time, event, uid, login_uid, who, why, contract_hash, detail, prev_hash, hash
    FROM event_record;
)sql";
inline constexpr std::array migrations{version_1};
/// A reader does not wait out a writer; a quarter of a second is longer than a commit takes.
inline constexpr DbSchema schema{.migrations = migrations, .read_timeout_ms = 250};

}  // namespace accord::contracts_schema
