# SPDX-License-Identifier: GPL-2.0-or-later
# The ordinary Unix users that a test cluster's jobs belong to, named for the part they play.

# make_role_users: makes whichever of them is missing, without a home, and says so.
#   vision1, vision2 in group vision; speech1 in group speech; outsider1 in neither; accord-admin has no member.
make_role_users() {
    local group
    for group in vision speech accord-admin; do
        if ! getent group "$group" >/dev/null; then
            groupadd --system "$group" && say "made the group $group"
        fi
    done
    make_role_user vision1 vision
    make_role_user vision2 vision
    make_role_user speech1 speech
    make_role_user outsider1 ''
}

make_role_user() {
    if ! getent passwd "$1" >/dev/null; then
        useradd --system --user-group ${2:+--groups "$2"} --no-create-home --home-dir /nonexistent \
            --shell /bin/bash "$1" && say "made the user $1${2:+ in group $2}"
    fi
}
