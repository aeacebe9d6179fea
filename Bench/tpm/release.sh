#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a script of tpm2-tools does for a signature or a secret after a match: the fewest tools that meet the policy.
# `ReleaseBench` has made the objects persistent, so that nothing is loaded, and starts it where the file `plan` is.
#
# Each line on stdin is one use, answered by how many nanoseconds it took. The authority's value goes over the bus in
# clear here, which Whorl does not allow itself; keeping it out would take two more tools.
set -euo pipefail

declare -A plan
while read -r name value; do plan[$name]=$value; done <plan

while read -r _; do
    start=${EPOCHREALTIME/[.,]/}
    tpm2 startauthsession -Q --policy-session -S session
    tpm2 policysecret -Q -S session -c "${plan[authority_handle]}" "hex:${plan[auth]}"
    tpm2 policynv -Q -S session -C "${plan[counter]}" -i value "${plan[counter]}" eq
    [ -z "${plan[branch0]-}" ] || tpm2 policyor -Q -S session -l sha256:branch0,branch1
    case ${plan[product]} in
        signature) tpm2 sign -Q -c "${plan[item_handle]}" -p session:session -g sha256 -d -o product digest ;;
        secret) tpm2 unseal -Q -c "${plan[item_handle]}" -p session:session -o product ;;
    esac
    tpm2 flushcontext -Q session
    end=${EPOCHREALTIME/[.,]/}
    echo $(((end - start) * 1000))
done
