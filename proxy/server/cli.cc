#include "proxy/server/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>

#include "proxy/base/text.h"
#include "proxy/server/command_line/argument_checks.h"
#include "proxy/server/command_line/asked_help.h"
#include "proxy/server/command_line/command_shape.h"
#include "proxy/server/command_line/completion.h"
#include "proxy/server/command_line/egress_check_flags.h"
#include "proxy/server/command_line/endpoint.h"
#include "proxy/server/command_line/explain_flags.h"
#include "proxy/server/command_line/forwarding.h"
#include "proxy/server/command_line/forwarding_flags.h"
#include "proxy/server/command_line/help_formatter.h"
#include "proxy/server/command_line/help_text.h"
#include "proxy/server/command_line/interval_flags.h"
#include "proxy/server/command_line/kept_pod_flags.h"
#include "proxy/server/command_line/manual_page.h"
#include "proxy/server/command_line/mistake.h"
#include "proxy/server/command_line/place_flags.h"
#include "proxy/server/command_line/shell_text.h"

namespace sluice::server {
namespace {

constexpr const char* kDescription =
    "Sluice, an egress gateway: the one door through which the workloads of a cluster reach the outside.";

void takeNamespace(CLI::App& command, std::string& to, const char* text) {
  command.add_option("--namespace", to, text)->type_name("NAMESPACE")->check(checkNamespace);
}

/// Adds an option whose value is one of `words`, which the help lists.
CLI::Option* takeWord(CLI::App& command, const char* flag, const std::vector<std::string>& words,
                      const std::function<void(const std::string&)>& take, const char* text) {
  return command.add_option_function<std::string>(flag, take, text)
      ->type_name(joinedBy("|", words))
      ->check([words](const std::string& word) {
        if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
        const std::vector<std::string_view> choices(words.begin(), words.end());
        return "'" + word + "' is not " + base::joinChoices(choices);
      });
}

CLI::Option* mayTakePaths(CLI::App& command, Options& options) {
  return command.add_option("--config", options.config, "file or folder of YAML documents; may be repeated")
      ->type_name("PATH");
}

void takeLibraries(CLI::App& command, Options& options) {
  command.add_option("--library-dir", options.libraryDir, "folder of the libraries that catalogs name (default: none)")
      ->type_name("PATH");
}

void takePaths(CLI::App& command, Options& options) { mayTakePaths(command, options)->required(); }

CLI::App* addCommand(CLI::App& app, Options& options, Command command, const char* name, const char* text) {
  CLI::App* added = app.add_subcommand(name, text);
  added->callback([&options, command] { options.command = command; });
  return added;
}

CLI::Option* takeEndpoint(CLI::App& command, const char* flag, net::Address& to, const char* text) {
  return command
      .add_option_function<std::string>(
          flag, [&to](const std::string& value) { to = *parseEndpoint(value); }, text)
      ->type_name("ADDR:PORT")
      ->check(checkEndpoint);
}

/// Holds the flags about a cluster, until it is known whether --kubernetes was given.
struct KubernetesFlags {
  bool given = false;
  KubernetesOptions options;
};

constexpr const char* kKubeconfigOfProcess =
    "file with the address and credentials of the API server (default: the service account of the Pod)";
constexpr const char* kKubeconfigOfPerson =
    "file with the address and credentials of the API server (default: the files of KUBECONFIG, ~/.kube/config, or the "
    "service account of the Pod)";

CLI::Option* takeKubeconfig(CLI::App& command, KubernetesOptions& options, const char* text = kKubeconfigOfPerson) {
  return command.add_option("--kubeconfig", options.kubeconfig, text)->type_name("FILE");
}

CLI::Option* takeGateways(CLI::App& command, KubernetesOptions& options, const char* text) {
  return command.add_option("--gateway", options.gateways, text)
      ->type_name("NAMESPACE/NAME")
      ->expected(1)
      ->take_all()
      ->check(checkGatewayName);
}

void takeLogLevel(CLI::App& command, Options& options) {
  takeWord(
      command, "--log-level", {"trace", "debug", "info", "warn", "error", "off"},
      [&options](const std::string& word) { options.logLevel = *observe::parseLogLevel(word); },
      "the lowest severity of the process log (default info)");
}

void takeOwnPorts(CLI::App& command, Options& options) {
  takeEndpoint(command, "--admin", options.admin, "address of the admin port (default 127.0.0.1:9901)");
  takeEndpoint(command, "--health", options.health,
               "address of the health port (default [::]:9902, for IPv6 and IPv4)");
}

void takeKubernetes(CLI::App& run, KubernetesFlags& flags) {
  CLI::Option* kubernetes = run.add_flag(
      "--kubernetes", flags.given,
      "serve the objects of a Kubernetes API server; with --config as well, an object from a file is used only if the "
      "API server has none of that name");
  takeKubeconfig(run, flags.options, kKubeconfigOfProcess)->needs(kubernetes);
  takeGateways(run, flags.options,
               "a Gateway to serve; may be repeated (default: all Gateways of the GatewayClasses of sluice)")
      ->needs(kubernetes);
  takeKeptPod(run, kubernetes, flags.options.controllerNamespace, flags.options.classKeys);
  run.add_flag("--controller", flags.options.controller, "also write the statuses of the objects to the API server")
      ->needs(kubernetes);
  takeAddressPool(run, flags.options.addressPool);
}

void addRun(CLI::App& app, Options& options, ForwardingFlags& forwarding, KubernetesFlags& kubernetes) {
  CLI::App* run = addCommand(app, options, Command::kRun, "run",
                             "serve the configuration of --config, of --kubernetes, or of --listen and --to");
  run->footer(std::string(kRunNotes));
  CLI::Option* config = mayTakePaths(*run, options);
  takeKubernetes(*run, kubernetes);
  takeOwnPorts(*run, options);
  takeWord(
      *run, "--admin-validate", {"true", "false"},
      [&options](const std::string& word) { options.adminValidate = word == "true"; },
      "whether the admin port accepts POST /validate (default true)");
  run->add_option("--workers", options.workers, "event loops; 0: one per core (default: settings.yaml, else 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
  CLI::Option* stateDir =
      run->add_option(
             "--state-dir", options.stateDir,
             "folder for the last good configuration, with its Secrets, and the history of revisions; the next "
             "process serves that configuration at once, and as long as --config cannot be served")
          ->type_name("PATH");
  takeLibraries(*run, options);
  takeZone(*run, options.zone);
  takeLogLevel(*run, options);
  takeForwarding(*run, config, stateDir, forwarding);
}

void addController(CLI::App& app, Options& options, KubernetesFlags& kubernetes) {
  CLI::App* controller = addCommand(app, options, Command::kController, "controller",
                                    "compile the objects of a Kubernetes API server and write their statuses, without "
                                    "serving traffic; with several replicas, the elected leader writes");
  takeKubeconfig(*controller, kubernetes.options, kKubeconfigOfProcess);
  takeGateways(*controller, kubernetes.options,
               "a Gateway to control; may be repeated (default: all Gateways of the GatewayClasses of sluice)");
  controller
      ->add_option(
          "--image", kubernetes.options.image,
          "run Pods of this image for each Gateway, with the objects that they need: a Deployment, a Service, and the "
          "least rights (default: you run `sluice run --kubernetes` yourself)")
      ->type_name("IMAGE");
  takeOwnPorts(*controller, options);
  takeLogLevel(*controller, options);
}

CLI::Option* takeAdmin(CLI::App& command, Options& options) {
  return takeEndpoint(command, "--admin", options.admin, "admin port of the running gateway (default 127.0.0.1:9901)");
}

void takeOutput(CLI::App& command, Options& options) {
  const auto take = [&options](const std::string& word) {
    options.output = word == "json" ? OutputFormat::kJson : word == "yaml" ? OutputFormat::kYaml : OutputFormat::kText;
  };
  takeWord(command, "-o", {"text", "json", "yaml"}, take, "the format of the output (default text)");
}

void addStatus(CLI::App& app, Options& options, KubernetesFlags& kubernetes) {
  CLI::App* status = addCommand(app, options, Command::kStatus, "status",
                                "print the served and the desired revision of a running gateway, and its problems, or "
                                "those of all Gateways of a cluster; exit 0 if there is no fault, else 1");
  CLI::Option* admin = takeAdmin(*status, options);
  CLI::Option* cluster = status
                             ->add_flag("--kubernetes", kubernetes.given,
                                        "ask a Kubernetes API server instead: print Gateways, their replicas, and "
                                        "routes, with faults first")
                             ->excludes(admin);
  takeKubeconfig(*status, kubernetes.options)->needs(cluster);
  status->callback([&options, &kubernetes] {
    options.command = Command::kStatus;
    if (kubernetes.given) options.kubernetes = kubernetes.options;
  });
  takeOutput(*status, options);
}

void addTop(CLI::App& app, Options& options) {
  CLI::App* top =
      addCommand(app, options, Command::kTop, "top",
                 "show the state of a running gateway on a terminal, in the words of its live page, until q "
                 "is pressed; without a terminal, print it once");
  takeAdmin(*top, options);
  takeInterval(*top, options.interval);
}

void addRollback(CLI::App* revisions, Options& options, KubernetesFlags& kubernetes) {
  CLI::App* rollback = revisions->add_subcommand("rollback",
                                                 "make the Pods of a Gateway serve an earlier revision instead of the "
                                                 "newest objects of the cluster, until --undo");
  rollback
      ->add_option("REVISION", options.rollback.revision,
                   "the revision, its beginning, or the name of its EgressRevision (default: the one that was "
                   "served before)")
      ->type_name("");
  rollback->add_option("--gateway", options.rollback.gateway, "the Gateway")
      ->type_name("NAMESPACE/NAME")
      ->required()
      ->check(checkGatewayName);
  rollback->add_flag("--undo", options.rollback.undo, "serve the newest objects again")->excludes("REVISION");
  takeKubeconfig(*rollback, kubernetes.options);
}

void addRevisions(CLI::App& app, Options& options, KubernetesFlags& kubernetes) {
  CLI::App* revisions = addCommand(app, options, Command::kRevisions, "revisions",
                                   "print the revisions that a running gateway has served or refused");
  takeAdmin(*revisions, options);
  takeOutput(*revisions, options);
  revisions->require_subcommand(0, 1);
  CLI::App* clear = revisions->add_subcommand("clear", "let the gateway try a refused revision again");
  addRollback(revisions, options, kubernetes);
  revisions->callback([&options, &kubernetes, revisions, clear] {
    const bool rollsBack = revisions->got_subcommand("rollback");
    options.command = rollsBack ? Command::kRollback : clear->parsed() ? Command::kClearRevision : Command::kRevisions;
    if (rollsBack) options.kubernetes = kubernetes.options;
  });
  clear->add_option("HASH", options.revision, "the revision, or its beginning")->required()->type_name("");
  takeAdmin(*clear, options);
}

void addExplain(CLI::App& app, Options& options) {
  CLI::App* explain = addCommand(
      app, options, Command::kExplain, "explain",
      "print how a request would be handled, and why; exit 0 if a listener accepts it, whatever the answer is");
  explain->footer(std::string(kExplainNotes));
  explain
      ->add_option("--config", options.config,
                   "file or folder of YAML documents; may be repeated (default: ask a running gateway)")
      ->type_name("PATH");
  takeLibraries(*explain, options);
  takeRequestInQuestion(*explain, options.request);
  explain->add_flag("--resolve", options.resolve, "resolve the names of Backends, and check their addresses");
  takeOutput(*explain, options);
  takeAdmin(*explain, options);
}

void addDiff(CLI::App& app, Options& options) {
  CLI::App* diff =
      addCommand(app, options, Command::kDiff, "diff",
                 "print what would change if a gateway that serves BEFORE got AFTER instead: objects, listeners, "
                 "Backends, settings, verdicts of EgressPolicies and problems; exit 0 if nothing would change, else 1");
  diff->add_option("BEFORE", options.before, "file or folder of YAML documents")->required()->type_name("PATH");
  diff->add_option("AFTER", options.after, "file or folder of YAML documents")->required()->type_name("PATH");
  takeOutput(*diff, options);
}

void addConvert(CLI::App& app, Options& options) {
  CLI::App* convert =
      addCommand(app, options, Command::kConvert, "convert",
                 "print the objects of files in the spelling of sluice.dev; objects of Gateway API and Kubernetes pass "
                 "unchanged, and a comment names each field that is lost; exit 0 if none is, else 1");
  convert->add_option("FILE", options.config, "file or folder of YAML documents; may be repeated")
      ->required()
      ->type_name("PATH");
}

void addValidate(CLI::App& app, Options& options) {
  CLI::App* validate =
      addCommand(app, options, Command::kValidate, "validate",
                 "print the problems of a configuration, by file and line, and every object with its conditions; "
                 "exit 0 if everything can be served, else 1");
  ValidationOptions& validation = options.validation;
  // Either form will do, and help would call each of them required.
  validate
      ->add_option(
          "PATH,--config", options.config,
          "file or folder of YAML documents; at least one is needed, with or without --config; several are one "
          "configuration")
      ->type_name("PATH");
  validate->add_flag(
      "-R,--recursive", validation.recursive,
      "also read subfolders; each folder with files is a configuration of its own, as below a folder without files");
  takeLibraries(*validate, options);
  validate->add_flag("-q,--quiet", validation.quiet, "print problems only, and nothing if there are none");
  validate->add_flag(
      "--live", validation.live,
      "also try to listen on its addresses and ports, which fails where a gateway already listens; an access "
      "log that cannot be opened here is an error and not a warning");
  const auto take = [&validation](const std::string& word) {
    validation.format = word == "json"     ? ValidationFormat::kJson
                        : word == "yaml"   ? ValidationFormat::kYaml
                        : word == "github" ? ValidationFormat::kGithub
                                           : ValidationFormat::kText;
  };
  takeWord(*validate, "-o", {"text", "json", "yaml", "github"}, take,
           "the format of the output (default text); github prints lines that GitHub Actions shows beside the file");
}

void addCatalog(CLI::App& app, Options& options) {
  CLI::App* catalog = addCommand(
      app, options, Command::kCatalog, "catalog",
      "print the types of payload processors that may be used, as JSON; exit 0 if the configuration could be read");
  takePaths(*catalog, options);
  takeLibraries(*catalog, options);
  catalog
      ->add_option(
          "--publish", options.publishIn,
          "print the objects that publish the list instead: a ConfigMap in NAMESPACE, and the GatewayClass with the "
          "annotation sluice.dev/supported-extension-kinds that names the ConfigMap")
      ->type_name("NAMESPACE")
      ->check(checkNamespace);
}

void addVersion(CLI::App& app, Options& options) {
  CLI::App* version = addCommand(app, options, Command::kVersion, "version",
                                 "print the version, the commit and the compiler of this program, and the versions of "
                                 "its libraries");
  takeOutput(*version, options);
}

void takeUpgradeCheck(CLI::App& upgrade, Options& options, KubernetesFlags& kubernetes) {
  CLI::Option* config = upgrade.add_option("--config", options.upgradeCheck.config,
                                           "files or folders with the objects (default: those of the API server)");
  config->type_name("PATH");
  takeKubeconfig(upgrade, kubernetes.options)->excludes(config);
  takeNamespace(upgrade, options.upgradeCheck.nameSpace, "the namespace of the controller (default sluice-system)");
  takeOutput(upgrade, options);
}

void addCheck(CLI::App& app, Options& options, KubernetesFlags& kubernetes) {
  CLI::App* check = app.add_subcommand("check", "run checks from inside the cluster");
  check->require_subcommand(1);
  CLI::App* egress = check->add_subcommand("egress",
                                           "check, from the place where it runs, whether workloads can bypass the "
                                           "gateway; exit 0 if direct egress is closed "
                                           "and the gateway is reachable, else 1");
  egress->callback([&options] { options.command = Command::kCheckEgress; });
  takeEgressCheck(*egress, options.egressCheck);
  takeNamespace(*egress, options.egressCheck.nameSpace,
                "the namespace that the answer names (default: that of the Pod's service account)");
  takeOutput(*egress, options);
  CLI::App* upgrade = check->add_subcommand(
      "upgrade",
      "print what the Gateways of a cluster would lose under a controller of this version, and how to prevent it; it "
      "reads no Secret; exit 0 if they would lose nothing, else 1");
  upgrade->callback([&options] { options.command = Command::kCheckUpgrade; });
  takeUpgradeCheck(*upgrade, options, kubernetes);
}

void addManifests(CLI::App& app, Options& options) {
  CLI::App* manifests = addCommand(app, options, Command::kManifests, "manifests",
                                   "print the objects that a cluster needs for the controller, with the "
                                   "CustomResourceDefinitions of sluice.dev: sluice manifests | kubectl apply -f -");
  takeNamespace(*manifests, options.manifests.nameSpace, "the namespace of sluice (default sluice-system)");
  manifests
      ->add_option("--image", options.manifests.image,
                   "the image of the Pods, those of the controller and those of Gateways (default "
                   "sluice:" SLUICE_VERSION ")")
      ->type_name("IMAGE")
      ->check(checkImage);
}

/// A page about the command line, which is made of its own table, as --help is.
struct TablePages {
  CLI::App* completion;
  CLI::App* man;
  CLI::App* help;
  std::string shell;
  std::vector<std::string> words;  // the command that is asked for
};

void addPages(CLI::App& app, TablePages& pages) {
  pages.completion = app.add_subcommand("completion", "print a completion script for a shell");
  pages.completion->footer("  source <(sluice completion bash)\n  sluice completion fish | source");
  takeWord(
      *pages.completion, "SHELL", {"bash", "zsh", "fish"}, [&pages](const std::string& shell) { pages.shell = shell; },
      "the shell")
      ->required();
  pages.man = app.add_subcommand("man", "print the manual page: sluice man | man -l -");
  pages.help = app.add_subcommand("help", "print the help of a command, as its --help does");
  pages.help
      ->add_option("COMMAND", pages.words, "the command, such as 'status' or 'revisions clear' (default: all commands)")
      ->type_name("");
}

CommandLine refuse(const CLI::App& app, const std::string& message) {
  std::cerr << "error: " << message << "\ntry '" << typedCommand(app) << " --help'\n";
  return {std::nullopt, 2};
}

CommandLine printPage(const std::string& text) {
  print(text);
  return {};
}

CommandLine printHelp(const CLI::App& app, const std::vector<std::string>& words) {
  const base::Result<std::string> help = helpOf(app, words);
  return help ? printPage(*help) : refuse(app, help.error().detail);
}

std::string completionScript(const CLI::App& app, const std::string& shell) {
  const CommandShape shape = shapeOf(app);
  return shell == "bash" ? bashCompletion(shape) : shell == "zsh" ? zshCompletion(shape) : fishCompletion(shape);
}

/// Puts the objects of --listen and --to in place of files, or prints them.
CommandLine finishForwarding(const CLI::App& app, const ForwardingFlags& flags, Options&& options) {
  if (flags.to.empty()) {
    if (!options.config.empty() || options.kubernetes) return {std::move(options), 0};
    return refuse(app, "'sluice run' needs --config PATH, --kubernetes, or --listen ADDR:PORT and --to URL");
  }
  auto objects = forwardingObjects(flags.listen, flags.to);
  if (!objects) return refuse(app, objects.error().detail);
  options.objects = *std::move(objects);
  if (flags.print) return printPage(options.objects);
  return {std::move(options), 0};
}

CommandLine finishRun(const CLI::App& app, const ForwardingFlags& forwarding, KubernetesFlags& kubernetes,
                      Options&& options) {
  const bool controls = kubernetes.given && kubernetes.options.controller;
  if (kubernetes.options.addressPool && !controls) {
    return refuse(app, "--address-pool requires --kubernetes and --controller");
  }
  if (const std::string wrong = completeZone(options.zone); !wrong.empty()) return refuse(app, wrong);
  if (kubernetes.given) options.kubernetes = std::move(kubernetes.options);
  return finishForwarding(app, forwarding, std::move(options));
}

}  // namespace

CommandLine parseCommandLine(int argc, const char* const* argv) {
  CLI::App app(kDescription, "sluice");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("sluice ") + SLUICE_VERSION, "print the version");
  app.require_subcommand(1);
  Options options;
  ForwardingFlags forwarding;
  KubernetesFlags kubernetes;
  TablePages pages;
  addRun(app, options, forwarding, kubernetes);
  addController(app, options, kubernetes);
  addValidate(app, options);
  addCatalog(app, options);
  addConvert(app, options);
  addStatus(app, options, kubernetes);
  addTop(app, options);
  addRevisions(app, options, kubernetes);
  addDiff(app, options);
  addExplain(app, options);
  addCheck(app, options, kubernetes);
  addManifests(app, options);
  addVersion(app, options);
  addPages(app, pages);
  app.footer(helpFooter());  // after the commands, which would inherit it
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    app.exit(asked, std::cout, std::cerr);
    return {};
  } catch (const CLI::ParseError& error) {
    return refuse(app, mistakeIn(app, error));
  }
  if (pages.help->parsed()) return printHelp(app, pages.words);
  if (pages.man->parsed()) return printPage(manualPage(shapeOf(app), helpSections()));
  if (pages.completion->parsed()) return printPage(completionScript(app, pages.shell));
  if (options.command == Command::kValidate && options.config.empty()) {
    return refuse(app, "'sluice validate' needs PATH or --config PATH");
  }
  if (options.command == Command::kRun) return finishRun(app, forwarding, kubernetes, std::move(options));
  if (options.command == Command::kCheckUpgrade) options.kubernetes = std::move(kubernetes.options);
  if (options.command == Command::kController) {
    // Another controller would take the Pods of other Gateways for its own Pods that are not needed any more.
    if (!kubernetes.options.image.empty() && !kubernetes.options.gateways.empty()) {
      return refuse(app, "--image is for a controller of all Gateways, and so without --gateway");
    }
    kubernetes.options.controller = true;
    options.kubernetes = std::move(kubernetes.options);
  }
  return {std::move(options), 0};
}

}  // namespace sluice::server
