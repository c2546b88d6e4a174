#!/bin/sh
# OpenSSL's s_server, which answers with a page about the connection: TLS 1.2 and 1.3, HTTP/1.0.
# Options of its own may follow.
set -eu
# It takes the rest of the chain apart from the certificate itself, which stands first.
rest="$EYELEVEL_FOLDER/rest.pem"
awk '/BEGIN CERTIFICATE/ { number++ } number > 1' "$EYELEVEL_CERTIFICATE" >"$rest"
set -- "$@" -accept 443 -www -quiet -cert "$EYELEVEL_CERTIFICATE" -key "$EYELEVEL_KEY"
if [ -s "$rest" ]; then
    set -- "$@" -cert_chain "$rest"
fi
exec "${OPENSSL:-openssl}" s_server "$@"
