#!/bin/sh
# The same with curl: preview, ask, run, fetch the pay stub.
#
#   HEARTHPAY_API_KEY=hp_test_… sh examples/payroll.sh EMPLOYEE_ID 40 2026-11-09 2026-11-15
set -eu
address=${HEARTHPAY_API_URL:-http://127.0.0.1:8000}/api/v1
employee=$1 hours=$2 start=$3 end=$4

# The key goes in by a file descriptor: what stands on a command line, every user of the machine can read.
call() { # path, body, further options of curl
    path=$1 body=$2
    shift 2
    printf 'header = "Authorization: Bearer %s"\n' "$HEARTHPAY_API_KEY" |
        curl --silent --show-error --fail-with-body --config - --header 'Content-Type: application/json' \
            --data "$body" "$@" "$address$path"
}
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)["data"][sys.argv[1]])' "$1"; }

asked="\"pay_period_start\": \"$start\", \"pay_period_end\": \"$end\", \"pay_frequency\": \"weekly\",
  \"employees\": [{\"employee_id\": \"$employee\", \"regular_hours\": $hours, \"payment_method\": \"check\"}]"
preview=$(call /payroll/preview "{$asked}") || { echo "$preview"; exit 1; }
printf 'This is what it comes to: %s\n' "$(printf '%s' "$preview" | field totals)"
printf 'Shall I run it? (yes/no) '
read -r answer
[ "$answer" = yes ] || { echo 'Nothing was run.'; exit 0; }

token=$(printf '%s' "$preview" | field preview_token)
ran=$(call /payroll/run "{$asked, \"preview_token\": \"$token\"}" --header "Idempotency-Key: $employee $start $end") ||
    { echo "$ran"; exit 1; }
payroll=$(printf '%s' "$ran" | field payroll_id)
printf 'Payroll %s is %s.\n' "$payroll" "$(printf '%s' "$ran" | field status)"
call /documents/paystub "{\"payroll_id\": \"$payroll\", \"employee_id\": \"$employee\"}" --output pay-stub.pdf
echo 'The pay stub is in pay-stub.pdf.'
