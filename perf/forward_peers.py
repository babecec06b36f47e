"""The proxies that tunnels.py compares, each with the least configuration that makes it an open forward proxy on loopback."""
import os
import typing

SLUICE = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: load}}
spec:
  controllerName: sluice.dev/egress-gateway
  parametersRef: {{group: "", kind: ConfigMap, namespace: load, name: settings}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{namespace: load, name: settings}}
data:
  settings.yaml: |
    limits: {{backendConnections: 100000, backendRequests: 100000}}
    workers: 1
    accessLog: {{path: "off"}}
    dns: {{servers: ["127.0.0.1:{dns}"]}}
    addressGuard: {{allow: [127.0.0.0/8]}}
    timeouts: {{clientIdle: 1h, upstreamIdle: 1h}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{namespace: load, name: egress}}
spec:
  gatewayClassName: load
  addresses: [{{type: IPAddress, value: 127.0.0.1}}]
  listeners: [{{name: proxy, port: {port}, protocol: sluice.dev/HTTPPROXY}}]
---
apiVersion: sluice.dev/v1alpha1
kind: EgressPolicy
metadata: {{namespace: load, name: origin}}
spec:
  targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: egress}}]
  rules: [{{name: origin, to: {{hostnames: [origin.test], ports: [{tunnel}, {http}]}}}}]
"""

SQUID = """
http_port 127.0.0.1:{port}
acl origin port {tunnel} {http}
http_access allow origin
cache deny all
cache_mem 0
access_log none
cache_log {dir}/squid.log
cache_store_log none
pid_filename none
coredump_dir {dir}
netdb_filename none
pinger_enable off
hosts_file {hosts}
shutdown_lifetime 0 seconds
max_filedescriptors 65536
visible_hostname load
"""

APACHE = """
ServerRoot {dir}
DefaultRuntimeDir {dir}
ServerName load
PidFile {dir}/apache.pid
ErrorLog {dir}/apache.log
LogLevel error
Listen 127.0.0.1:{port}
{modules}
User www-data
Group www-data
ServerLimit 64
ThreadsPerChild 64
MaxRequestWorkers 4096
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
ProxyTimeout 3600
ProxyRequests On
AllowCONNECT {tunnel}
<Proxy "*">
  Require all granted
</Proxy>
"""
APACHE_FOLDER = "/usr/lib/apache2/modules"
APACHE_MODULES = ("mpm_event", "authn_core", "authz_core", "proxy", "proxy_connect", "proxy_http")

TINYPROXY = """
Listen 127.0.0.1
Port {port}
Allow 127.0.0.1
MaxClients 8192
Timeout 3600
LogFile "{dir}/tinyproxy.log"
LogLevel Critical
ConnectPort {tunnel}
"""

# Its only destination for bytes is the origin itself.
HAPROXY_TCP = """
global
  nbthread 1
  maxconn 4000
defaults
  mode tcp
  {splice}
  timeout client 1h
  timeout server 1h
  timeout connect 10s
frontend client
  bind 127.0.0.1:{port}
  default_backend origin
backend origin
  server origin 127.0.0.1:{tunnel}
"""

HAPROXY_HTTP = """
global
  nbthread 1
  maxconn 4000
resolvers dns
  nameserver local 127.0.0.1:{dns}
  hold valid 300s
defaults
  mode http
  timeout client 1h
  timeout server 1h
  timeout connect 10s
frontend client
  bind 127.0.0.1:{port}
  http-request do-resolve(txn.address,dns,ipv4) hdr(host),host_only
  http-request return status 503 unless {{ var(txn.address) -m found }}
  http-request set-uri %[pathq]
  default_backend requested
backend requested
  http-reuse always
  http-request set-dst var(txn.address)
  http-request set-dst-port hdr(host),port_only
  server requested 0.0.0.0:0 pool-max-conn -1 pool-purge-delay 1h
"""


class Peer(typing.NamedTuple):
    program: str
    template: str
    command: typing.Callable  # makes a command of the program's path and the file that the template became
    name: str = "origin.test"  # of the origin, as this proxy can resolve it; "" if it cannot be asked for one
    values: dict = {}  # for the template


def haproxy(template, name="", **values):
    return Peer("haproxy", template, lambda path, file: [path, "-db", "-f", file], name, values)


# Apache and tinyproxy ask the system's resolver, which knows this one name without a name server.
PEERS = {
    "sluice": Peer("sluice", SLUICE, lambda path, file: [path, "run", "--config", file, "--workers", "1", "--admin", "127.0.0.1:0",
                                                         "--health", "127.0.0.1:0"]),
    "squid": Peer("squid", SQUID, lambda path, file: [path, "-N", "-f", file]),
    "apache": Peer("apache2", APACHE, lambda path, file: [path, "-DFOREGROUND", "-f", file], "localhost",
                   {"modules": "\n".join(f"LoadModule {name}_module {APACHE_FOLDER}/mod_{name}.so" for name in APACHE_MODULES)}),
    "tinyproxy": Peer("tinyproxy", TINYPROXY, lambda path, file: [path, "-d", "-c", file], "localhost"),
    "haproxy": haproxy(HAPROXY_TCP, splice=""),
    "haproxy, splice": haproxy(HAPROXY_TCP, splice="option splice-request\n  option splice-response"),
    "haproxy, do-resolve": haproxy(HAPROXY_HTTP, "origin.test"),
}
