#!/bin/sh
# nginx that answers 204 to everything: TLS 1.2 and 1.3 with HTTP/2, and HTTP/3 where it has it.
set -eu
listen='listen 443 ssl http2; listen [::]:443 ssl http2;'
if [ "$EYELEVEL_HTTP_VERSION" = h3 ]; then
    # An answer of a wildcard socket leaves from the address that was asked.
    listen='listen 443 quic reuseport; listen [::]:443 quic reuseport;'
fi
user=''
[ "$(id -u)" -ne 0 ] || user='user root;'
cat >"$EYELEVEL_FOLDER/nginx.conf" <<END
$user
daemon off; worker_processes 1; pid $EYELEVEL_FOLDER/nginx.pid; error_log stderr;
events { }
http {
    access_log off;
    client_body_temp_path $EYELEVEL_FOLDER/body; proxy_temp_path $EYELEVEL_FOLDER/proxy;
    fastcgi_temp_path $EYELEVEL_FOLDER/fastcgi; uwsgi_temp_path $EYELEVEL_FOLDER/uwsgi;
    scgi_temp_path $EYELEVEL_FOLDER/scgi;
    server {
        $listen
        ssl_certificate $EYELEVEL_CERTIFICATE; ssl_certificate_key $EYELEVEL_KEY;
        ssl_protocols TLSv1.2 TLSv1.3; ssl_early_data on;
        ssl_session_cache shared:tickets:1m;
        add_header Alt-Svc 'h3=":443"; ma=60';
        return 204;
    }
}
END
exec "${NGINX:-nginx}" -e stderr -p "$EYELEVEL_FOLDER" -c "$EYELEVEL_FOLDER/nginx.conf"
