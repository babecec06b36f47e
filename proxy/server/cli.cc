#include "proxy/server/cli.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <map>

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
    "  sluice run --config examples/quickstart --workers 2        (all its flags: sluice run --help)\n\n"
    "Admin port: /status /revisions /events /explain /catalog /exchanges /metrics, POST /validate, POST "
    "/revisions/clear.\n"
    "Health port: /healthz /readyz /metrics. Files that change are read again, SIGHUP reads them at once and opens the "
    "access\n"
    "log anew. SIGTERM or SIGINT lets requests end and stops; a second one does not wait.\n"
    "Exit codes: 0 done, 1 the admin or the health port cannot be used, or for other commands the configuration, 2 "
    "wrong command line.";

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

std::string checkLevel(const std::string& text) {
  const auto level = observe::parseLogLevel(text);
  return level.ok() ? std::string() : level.error().detail;
}

void takePaths(CLI::App& command, Options& options) {
  command.add_option("--config", options.config, "file or folder of YAML documents; may be repeated")
      ->required()
      ->type_name("PATH");
}

CLI::App* addCommand(CLI::App& app, Options& options, Command command, const char* name, const char* text) {
  CLI::App* added = app.add_subcommand(name, text);
  added->callback([&options, command] { options.command = command; });
  return added;
}

void takeEndpoint(CLI::App& command, const char* flag, net::Address& to, const char* text) {
  command
      .add_option_function<std::string>(
          flag, [&to](const std::string& value) { to = *parseEndpoint(value); }, text)
      ->type_name("ADDR:PORT")
      ->check(checkEndpoint);
}

void addRun(CLI::App& app, Options& options) {
  CLI::App* run = addCommand(app, options, Command::kRun, "run", "serve the configuration");
  takePaths(*run, options);
  takeEndpoint(*run, "--admin", options.admin, "where the admin port listens (default 127.0.0.1:9901)");
  takeEndpoint(*run, "--health", options.health, "where the health port listens (default [::]:9902, of IPv6 and IPv4)");
  run->add_option("--admin-validate", options.adminValidate,
                  "whether the admin port takes POST /validate (default true)")
      ->type_name("BOOL");
  run->add_option("--workers", options.workers, "event loops; 0: one per core (default: settings.yaml, else 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  run->add_option("--state-dir", options.stateDir,
                  "folder for the last good configuration, with its Secrets, and the history of revisions; the next "
                  "process serves it at once, and goes on serving it while --config cannot be served")
      ->type_name("PATH");
  run->add_option_function<std::string>(
         "--log-level", [&options](const std::string& value) { options.logLevel = *observe::parseLogLevel(value); },
         "trace, debug, info, warn, error or off (default info)")
      ->type_name("L")
      ->check(checkLevel);
}

void takeAdmin(CLI::App& command, Options& options) {
  takeEndpoint(command, "--admin", options.admin, "admin port of the running gateway (default 127.0.0.1:9901)");
}

void takeOutput(CLI::App& command, Options& options) {
  static const std::map<std::string, OutputFormat> kFormats = {
      {"text", OutputFormat::kText}, {"json", OutputFormat::kJson}, {"yaml", OutputFormat::kYaml}};
  command.add_option("-o", options.output, "text, json or yaml (default text)")
      ->type_name("FORMAT")
      ->transform(CLI::CheckedTransformer(kFormats));
}

void addStatus(CLI::App& app, Options& options) {
  CLI::App* status = addCommand(app, options, Command::kStatus, "status",
                                "print what a running gateway serves, what it should serve, and what is wrong; exit 0 "
                                "if it serves what it should, else 1");
  takeAdmin(*status, options);
  takeOutput(*status, options);
}

void addRevisions(CLI::App& app, Options& options) {
  CLI::App* revisions = addCommand(app, options, Command::kRevisions, "revisions",
                                   "print the revisions that a running gateway has served or refused");
  takeAdmin(*revisions, options);
  takeOutput(*revisions, options);
  revisions->require_subcommand(0, 1);
  CLI::App* clear = revisions->add_subcommand("clear", "let the gateway try a revision again that it has refused");
  revisions->callback(
      [&options, clear] { options.command = clear->parsed() ? Command::kClearRevision : Command::kRevisions; });
  clear->add_option("HASH", options.revision, "the revision, or its beginning")->required();
  takeAdmin(*clear, options);
}

void addExplain(CLI::App& app, Options& options) {
  CLI::App* explain = addCommand(
      app, options, Command::kExplain, "explain",
      "print what would happen to a request, and why; exit 0 if a listener takes it, whatever the answer is");
  explain->footer(
      "Nothing is sent, and no payload processor runs. The URL says which listener is asked: its scheme and its port,\n"
      "and its host also stands for the name in the TLS handshake, while a header Host replaces it in the request. A "
      "request\n"
      "with Content-Type application/grpc is HTTP/2, any other one HTTP/1.1. A running gateway answers the same on its "
      "admin\n"
      "port: /explain?method=POST&url=...&header=...&clientAddress=...&gateway=...&output=text");
  explain
      ->add_option("--config", options.config,
                   "file or folder of YAML documents; may be repeated. Without it a running gateway is asked")
      ->type_name("PATH");
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
  explain->add_flag("--resolve", options.resolve, "resolve the names of Backends, and judge their addresses")
      ->needs("--config");
  takeOutput(*explain, options);
  takeAdmin(*explain, options);
}

void addDiff(CLI::App& app, Options& options) {
  CLI::App* diff = addCommand(app, options, Command::kDiff, "diff",
                              "print what would change if a gateway that serves BEFORE were given AFTER: objects, "
                              "listeners, Backends, settings and problems; exit 0 if nothing would, else 1");
  diff->add_option("BEFORE", options.before, "file or folder of YAML documents")->required();
  diff->add_option("AFTER", options.after, "file or folder of YAML documents")->required();
  takeOutput(*diff, options);
}

void addValidate(CLI::App& app, Options& options) {
  CLI::App* validate = addCommand(app, options, Command::kValidate, "validate",
                                  "print every object with its conditions; exit 0 if all of it can be served, else 1");
  takePaths(*validate, options);
  validate->add_flag("--live", options.live,
                     "try to listen at its addresses and ports too, which fails where a gateway does already");
}

void addCatalog(CLI::App& app, Options& options) {
  CLI::App* catalog = addCommand(
      app, options, Command::kCatalog, "catalog",
      "print the kinds of payload processors that the configuration supports, as JSON; exit 0 if it could be read");
  takePaths(*catalog, options);
  catalog
      ->add_option(
          "--publish", options.publishIn,
          "print the objects that publish the list instead: a ConfigMap in NAMESPACE, and the GatewayClass with "
          "its annotation sluice.dev/supported-extension-kinds that names it")
      ->type_name("NAMESPACE")
      ->check(checkNamespace);
}

void addVersion(CLI::App& app, Options& options) {
  CLI::App* version = addCommand(app, options, Command::kVersion, "version",
                                 "print the version, the commit and the compiler of this program, and the versions of "
                                 "its libraries");
  takeOutput(*version, options);
}

}  // namespace

CommandLine parseCommandLine(int argc, const char* const* argv) {
  CLI::App app(kDescription, "sluice");
  app.set_version_flag("--version", std::string("sluice ") + SLUICE_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  Options options;
  addRun(app, options);
  addValidate(app, options);
  addCatalog(app, options);
  addStatus(app, options);
  addRevisions(app, options);
  addDiff(app, options);
  addExplain(app, options);
  addVersion(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return {std::nullopt, code == 0 ? 0 : 2};
  }
  return {std::move(options), 0};
}

}  // namespace sluice::server
