#include "proxy/server/cli.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>

#include "config/fields/patterns.h"

namespace sluice::server {
namespace {

constexpr const char* kDescription =
    "Sluice, an egress gateway: the one door through which the workloads of a cluster reach the outside.";
constexpr const char* kFooter =
    "Configuration is Gateway API objects in YAML: GatewayClass (controllerName sluice.dev/egress-gateway), Gateway, "
    "HTTPRoute,\n"
    "Backend, ConfigMap, Secret. The ConfigMap that GatewayClass.spec.parametersRef names holds settings.yaml; a flag "
    "beats it.\n\n"
    "  sluice validate --config examples/quickstart\n"
    "  sluice run --config examples/quickstart --workers 2        (all its flags: sluice run --help)\n"
    "  sluice explain --config examples/quickstart --url http://api.test/v1 -H 'x-team: a'\n\n"
    "Admin port: /status /catalog /exchanges /explain /metrics. Health port: /healthz /readyz /metrics. Files that "
    "change are read\n"
    "again, SIGHUP reads them at once and opens the access log anew. SIGTERM or SIGINT lets requests end and stops; a "
    "second one "
    "does not wait.\n"
    "Exit codes: 0 done, 1 the configuration or a port cannot be used, 2 wrong command line.";

// Parses "127.0.0.1:9901" or "[::1]:9901".
std::optional<net::Address> parseEndpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return net::Address::parse(host, port);
}

std::string checkEndpoint(const std::string& text) {
  return parseEndpoint(text) ? std::string() : "'" + text + "' is not ADDRESS:PORT, as 127.0.0.1:9901 or [::1]:9901";
}

std::string checkNamespace(const std::string& text) {
  return config::isDnsLabel(text) ? std::string() : "'" + text + "' is no namespace";
}

std::string checkOutput(const std::string& text) {
  return text == "text" || text == "json" ? std::string() : "'" + text + "' is neither text nor json";
}

std::string checkLevel(const std::string& text) {
  const auto level = observe::parseLogLevel(text);
  return level.ok() ? std::string() : level.error().detail;
}

void takePaths(CLI::App& command, Options& options) {
  command.add_option("--config", options.config, "file or folder of YAML documents; may be repeated")
      ->required()
      ->type_name("PATH");
}

CLI::App* addExplain(CLI::App& app, Options& options) {
  CLI::App* explain = app.add_subcommand(
      "explain",
      "print what would happen to a request, and why; exit 0 if a listener takes it, whatever the answer is");
  explain->footer(
      "Nothing is sent, and no payload processor runs. The URL says which listener is asked: its scheme and its port,\n"
      "and its host also stands for the name in the TLS handshake, while a header Host replaces it in the request. A "
      "request\n"
      "with Content-Type application/grpc is HTTP/2, any other one HTTP/1.1. A running gateway answers the same on its "
      "admin\n"
      "port: /explain?method=POST&url=...&header=...&clientAddress=...&gateway=...");
  takePaths(*explain, options);
  control::RequestInQuestion& request = options.request;
  explain->add_option("--url", request.url, "the URL, with scheme and host")->required()->type_name("URL");
  explain->add_option("--method", request.method, "the method (default GET)")->type_name("METHOD");
  explain->add_option("-H,--header", request.headers, "a header field; may be repeated")
      ->type_name("'NAME: VALUE'")
      ->expected(1)
      ->take_all();
  explain
      ->add_option("--client-address", request.clientAddress,
                   "the IP address of the client, which is shown; no decision depends on it")
      ->type_name("ADDRESS");
  explain->add_option("--gateway", request.gateway, "the Gateway that gets it, if listeners of several fit")
      ->type_name("NAMESPACE/NAME");
  explain->add_flag("--resolve", options.resolve, "resolve the names of Backends, and judge their addresses");
  explain
      ->add_option_function<std::string>(
          "-o,--output",
          [&options](const std::string& format) { options.output = format == "json" ? Output::kJson : Output::kText; },
          "text or json (default text)")
      ->type_name("FORMAT")
      ->check(checkOutput);
  return explain;
}

CLI::App* addCatalog(CLI::App& app, Options& options) {
  CLI::App* catalog = app.add_subcommand(
      "catalog",
      "print the kinds of payload processors that the configuration supports, as JSON; exit 0 if it could be read");
  takePaths(*catalog, options);
  catalog
      ->add_option(
          "--publish", options.publishIn,
          "print the objects that publish the list instead: a ConfigMap in NAMESPACE, and the GatewayClass with "
          "its annotation sluice.dev/supported-extension-kinds that names it")
      ->type_name("NAMESPACE")
      ->check(checkNamespace);
  return catalog;
}

}  // namespace

CommandLine parseCommandLine(int argc, const char* const* argv) {
  CLI::App app(kDescription, "sluice");
  app.set_version_flag("--version", std::string("sluice ") + SLUICE_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);

  Options options;
  std::string admin = "127.0.0.1:9901";
  std::string health = "0.0.0.0:9902";
  std::string level = "info";
  std::uint32_t workers = 0;

  CLI::App* run = app.add_subcommand("run", "serve the configuration");
  takePaths(*run, options);
  run->add_option("--admin", admin, "where the admin port listens (default 127.0.0.1:9901)")
      ->type_name("ADDR:PORT")
      ->check(checkEndpoint);
  run->add_option("--health", health, "where the health port listens (default 0.0.0.0:9902)")
      ->type_name("ADDR:PORT")
      ->check(checkEndpoint);
  CLI::Option* workersFlag =
      run->add_option("--workers", workers, "event loops; 0: one per core (default: settings.yaml, else 0)")
          ->type_name("N")
          ->check(CLI::Range(0, 1024));
  run->add_option("--log-level", level, "trace, debug, info, warn, error or off (default info)")
      ->type_name("L")
      ->check(checkLevel);

  CLI::App* validate = app.add_subcommand(
      "validate", "print every object with its conditions; exit 0 if all of it can be served, else 1");
  takePaths(*validate, options);

  CLI::App* catalog = addCatalog(app, options);
  CLI::App* explain = addExplain(app, options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return {std::nullopt, code == 0 ? 0 : 2};
  }
  if (validate->parsed()) options.command = Command::kValidate;
  if (catalog->parsed()) options.command = Command::kCatalog;
  if (explain->parsed()) options.command = Command::kExplain;
  options.admin = *parseEndpoint(admin);
  options.health = *parseEndpoint(health);
  options.logLevel = *observe::parseLogLevel(level);
  if (workersFlag->count() > 0) options.workers = workers;
  return {options, 0};
}

}  // namespace sluice::server
