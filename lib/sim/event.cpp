// SPDX-License-Identifier: GPL-2.0-or-later
#include "sim/event.hpp"

#include "policy/names.hpp"

namespace accord::sim {

namespace {

constexpr Named<EventKind> event_kinds[] = {
    {EventKind::reject, "reject"},   {EventKind::queue, "queue"},     {EventKind::admit, "admit"},
    {EventKind::release, "release"}, {EventKind::start, "start"},     {EventKind::promote, "promote"},
    {EventKind::demote, "demote"},   {EventKind::hold, "hold"},       {EventKind::cancel, "cancel"},
    {EventKind::preempt, "preempt"}, {EventKind::end, "end"}};

}  // namespace

const char* to_string(EventKind kind) { return name_of(event_kinds, kind); }

}  // namespace accord::sim
