#!/bin/sh
# Caddy (quic-go) that answers 204 to everything: TLS 1.2 and 1.3 with HTTP/2, and HTTP/3.
set -eu
cat >"$EYELEVEL_FOLDER/Caddyfile" <<END
{
    admin off
    auto_https off
    storage file_system $EYELEVEL_FOLDER/storage
}
https:// {
    bind $EYELEVEL_ADDRESSES
    tls $EYELEVEL_CERTIFICATE $EYELEVEL_KEY
    respond 204
}
END
export HOME="$EYELEVEL_FOLDER"
exec "${CADDY:-caddy}" run --config "$EYELEVEL_FOLDER/Caddyfile" --adapter caddyfile
