# A caller with curl: many requests with one command, over one connection. It tries nothing twice.
set -uo pipefail

# One request of a configuration for curl: the method's options, then what all have in common.
request() {
    printf '%s\n' "$@" "header = \"Authorization: Bearer $TOKEN\"" 'output = "/dev/null"' 'max-time = 20' \
        'write-out = "%{http_code} %{num_connects} %{errormsg}\n"' 'next'
}
batch=$(for _ in $(seq 20); do
    request "url = \"$BASE$WRITE\"" 'header = "Content-Type: application/json"' "data-binary = \"@$BODY\""
    request "url = \"$BASE$READ\""
done)

requests=0 connections=0 failed=0 first=
while [ ! -e "$STOP" ]; do
    while read -r status opened why; do
        requests=$((requests + 1)) connections=$((connections + opened))
        if [ "$status" != 200 ]; then
            failed=$((failed + 1)) first=${first:-answered $status ${why//[\"\\]/}}
        fi
    done < <(curl --silent --rate 40/s --config - <<<"${batch%next}")
done
printf '{"requests": %s, "connections": %s, "failed": %s, "first": "%s"}\n' "$requests" "$connections" "$failed" "$first"
