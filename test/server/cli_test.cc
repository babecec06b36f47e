// The command line as a user types it.
#include "proxy/server/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/server/parsed_arguments.h"

namespace sluice::server {
namespace {

TEST(CommandLine, NeedsOnlyAConfigurationForRun) {
  const ParsedArguments parsed = parse({"run", "--config", "a.yaml"});
  ASSERT_TRUE(parsed.line.options);
  const Options& options = *parsed.line.options;
  EXPECT_EQ(options.command, Command::kRun);
  EXPECT_EQ(options.config, std::vector<std::string>{"a.yaml"});
  EXPECT_EQ(options.admin.toString(), "127.0.0.1:9901");
  EXPECT_EQ(options.health.toString(), "[::]:9902");
  EXPECT_FALSE(options.workers) << "settings.yaml decides";
  EXPECT_EQ(options.logLevel, observe::LogLevel::kInfo);
  EXPECT_EQ(parsed.out + parsed.err, "");
}

TEST(CommandLine, TakesEveryFlag) {
  const ParsedArguments parsed = parse({"run", "--config", "a", "b", "--config", "c", "--admin", "[::1]:1", "--health",
                                        "10.0.0.1:65535", "--workers", "0", "--log-level", "debug"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  const Options& options = *parsed.line.options;
  EXPECT_EQ(options.config, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(options.admin.toString(), "[::1]:1");
  EXPECT_EQ(options.health.toString(), "10.0.0.1:65535");
  EXPECT_EQ(options.workers, 0U) << "said, and therefore stronger than settings.yaml";
  EXPECT_EQ(options.logLevel, observe::LogLevel::kDebug);
}

TEST(CommandLine, TakesTheFolderOfLibrariesWhereConfigurationsAreCompiled) {
  using Words = std::vector<const char*>;
  for (Words words : {Words{"run", "--config", "a"}, Words{"validate", "a"}, Words{"catalog", "--config", "a"},
                      Words{"explain", "--config", "a", "--url", "https://a.test/"}}) {
    EXPECT_EQ(parse(words).line.options->libraryDir, "") << "there are none by default";
    words.insert(words.end(), {"--library-dir", "/usr/lib/sluice"});
    EXPECT_EQ(parse(words).line.options->libraryDir, "/usr/lib/sluice") << words[0];
  }
}

TEST(CommandLine, TakesOnlyPathsForValidate) {
  const ParsedArguments parsed = parse({"validate", "--config", "a"});
  ASSERT_TRUE(parsed.line.options);
  EXPECT_EQ(parsed.line.options->command, Command::kValidate);
  EXPECT_EQ(parse({"validate", "--config", "a", "--workers", "1"}).line.exitCode, 2);
  const Options options = *parse({"validate", "a", "b", "-R", "-q", "--live", "-o", "github"}).line.options;
  EXPECT_EQ(options.config, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(options.validation.recursive && options.validation.quiet && options.validation.live);
  EXPECT_EQ(options.validation.format, ValidationFormat::kGithub);
  EXPECT_EQ(parse({"validate", "a", "-o", "xml"}).line.exitCode, 2);
}

TEST(CommandLine, TakesARequestForExplain) {
  const ParsedArguments parsed =
      parse({"explain", "--config", "a", "--url", "https://a.test/x", "--method", "POST", "-H", "x-a: 1", "-H",
             "x-b: 2", "--client-address", "10.0.0.1", "--gateway", "demo/egress", "--resolve", "-o", "json"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  const Options& options = *parsed.line.options;
  EXPECT_EQ(options.command, Command::kExplain);
  EXPECT_EQ(options.request.url, "https://a.test/x");
  EXPECT_EQ(options.request.method, "POST");
  EXPECT_EQ(options.request.headers, (std::vector<std::string>{"x-a: 1", "x-b: 2"}));
  EXPECT_EQ(options.request.clientAddress, "10.0.0.1");
  EXPECT_EQ(options.request.gateway, "demo/egress");
  EXPECT_TRUE(options.resolve);
  EXPECT_EQ(options.output, OutputFormat::kJson);
  EXPECT_EQ(parse({"explain", "--url", "https://a.test/", "--from", "10.0.0.2"}).line.options->request.clientAddress,
            "10.0.0.2");
}

TEST(CommandLine, TakesACallerForExplain) {
  const auto explain = [](std::vector<const char*> flags) {
    flags.insert(flags.begin(), {"explain", "--url", "https://a.test/"});
    return parse(flags);
  };
  const ParsedArguments parsed = explain({"--as", "demo/web", "--principal", "spiffe://a/b", "--assurance", "Token"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  const control::CallerInQuestion& caller = parsed.line.options->request.caller;
  EXPECT_EQ(caller.account, "demo/web");
  EXPECT_EQ(caller.principal, "spiffe://a/b");
  EXPECT_EQ(caller.assurance, "Token");
  EXPECT_FALSE(explain({}).line.options->request.caller.isTold());
  for (const char* account : {"web", "demo/", "/web", "demo/web/x", "Demo/web"}) {
    const ParsedArguments refused = explain({"--as", account});
    EXPECT_EQ(refused.line.exitCode, 2);
    EXPECT_THAT(refused.err, testing::HasSubstr("--as"));
    EXPECT_THAT(refused.err, testing::HasSubstr("is not NAMESPACE/ACCOUNT"));
  }
  EXPECT_THAT(explain({"--assurance", "Some"}).err, testing::HasSubstr("is not None, Address, Token or Certificate"));
}

TEST(CommandLine, TakesOriginsInPlaceOfFilesForRun) {
  const ParsedArguments parsed = parse({"run", "--listen", ":8080", "--to", "http://a.test", "--to", "http://b.test"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  EXPECT_TRUE(parsed.line.options->config.empty());
  EXPECT_THAT(parsed.line.options->objects, testing::HasSubstr("hostname: \"b.test\""));
  const ParsedArguments printed = parse({"run", "--listen", ":8080", "--to", "http://a.test", "--print-config"});
  EXPECT_FALSE(printed.line.options);
  EXPECT_EQ(printed.line.exitCode, 0);
  EXPECT_THAT(printed.out, testing::HasSubstr("hostname: \"a.test\""));
}

TEST(CommandLine, SaysWhichFlagsDoNotGoTogether) {
  const auto mistake = [](const std::vector<const char*>& arguments) { return parse(arguments).err; };
  using testing::AnyOf;
  using testing::StartsWith;
  EXPECT_THAT(mistake({"run"}),
              StartsWith("error: 'sluice run' needs --config PATH, --kubernetes, or --listen ADDR:PORT and --to"));
  EXPECT_THAT(mistake({"run", "--listen", ":1"}), StartsWith("error: --listen requires --to\n"));
  EXPECT_THAT(mistake({"run", "--to", "http://a"}), StartsWith("error: --to requires --listen\n"));
  EXPECT_THAT(mistake({"run", "--config", "a", "--listen", ":1", "--to", "http://a"}),
              AnyOf(StartsWith("error: --config excludes --listen\n"), StartsWith("error: --config excludes --to\n")));
  EXPECT_THAT(mistake({"run", "--state-dir", "a", "--listen", ":1", "--to", "http://a"}),
              StartsWith("error: --state-dir excludes --to\n"));
  EXPECT_THAT(mistake({"run", "--config", "a", "--print-config"}), StartsWith("error: --print-config requires --to\n"));
  EXPECT_THAT(mistake({"run", "--listen", "8080", "--to", "http://a"}), StartsWith("error: --listen 8080: must be "));
  EXPECT_THAT(mistake({"run", "--listen", ":1", "--to", "a"}), StartsWith("error: --to a: must begin with https://"));
}

TEST(CommandLine, TakesAnAddressPoolForTheControllerOfACluster) {
  const auto run = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "run");
    return parse(std::move(arguments));
  };
  const ParsedArguments parsed = run({"--kubernetes", "--controller", "--address-pool", "127.8.0.0/24"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  ASSERT_TRUE(parsed.line.options->kubernetes->addressPool);
  EXPECT_EQ(parsed.line.options->kubernetes->addressPool->text(), "127.8.0.0/24");
  EXPECT_FALSE(run({"--kubernetes", "--controller"}).line.options->kubernetes->addressPool);
  using testing::HasSubstr;
  using testing::StartsWith;
  EXPECT_THAT(run({"--kubernetes", "--address-pool", "127.8.0.0/24"}).err,
              StartsWith("error: --address-pool requires --kubernetes and --controller\n"));
  EXPECT_THAT(run({"--config", "a", "--address-pool", "127.8.0.0/24"}).err,
              StartsWith("error: --address-pool requires --kubernetes and --controller\n"));
  EXPECT_THAT(run({"--kubernetes", "--controller", "--address-pool", "127.8.0.1/24"}).err,
              HasSubstr("did you mean 127.8.0.0/24?"));
  EXPECT_EQ(run({"--kubernetes", "--controller", "--address-pool", "a"}).line.exitCode, 2);
}

TEST(CommandLine, TakesTheZoneOfTheFlagOrElseOfTheEnvironment) {
  using testing::HasSubstr;
  using testing::StartsWith;
  ::unsetenv("SLUICE_ZONE");
  EXPECT_EQ(parse({"run", "--config", "a"}).line.options->zone, "");
  EXPECT_EQ(parse({"run", "--config", "a", "--zone", "eu_West.1-a"}).line.options->zone, "eu_West.1-a");
  ::setenv("SLUICE_ZONE", "b", 1);
  EXPECT_EQ(parse({"run", "--config", "a"}).line.options->zone, "b");
  EXPECT_EQ(parse({"run", "--config", "a", "--zone", "c"}).line.options->zone, "c");
  ::setenv("SLUICE_ZONE", "", 1);
  EXPECT_EQ(parse({"run", "--config", "a"}).line.options->zone, "") << "a Pod without that label has an empty variable";
  ::setenv("SLUICE_ZONE", "a b", 1);
  EXPECT_THAT(parse({"run", "--config", "a"}).err, StartsWith("error: SLUICE_ZONE: \"a b\" is no zone: it must have"));
  EXPECT_EQ(parse({"run", "--config", "a"}).line.exitCode, 2);
  EXPECT_TRUE(parse({"validate", "a"}).line.options) << "it is for run";
  ::unsetenv("SLUICE_ZONE");
  for (const std::string& wrong : {std::string("a."), std::string("a/b"), std::string(64, 'a')}) {
    const ParsedArguments parsed = parse({"run", "--config", "a", "--zone", wrong.c_str()});
    EXPECT_THAT(parsed.err, HasSubstr("is no zone")) << wrong;
    EXPECT_EQ(parsed.line.exitCode, 2) << wrong;
  }
}

TEST(CommandLine, TakesFilesOrAServerForCheckUpgrade) {
  const ParsedArguments ofFiles = parse({"check", "upgrade", "--config", "a", "--namespace", "ops", "-o", "json"});
  ASSERT_TRUE(ofFiles.line.options) << ofFiles.err;
  EXPECT_EQ(ofFiles.line.options->command, Command::kCheckUpgrade);
  EXPECT_EQ(ofFiles.line.options->upgradeCheck.config, std::vector<std::string>{"a"});
  EXPECT_EQ(ofFiles.line.options->upgradeCheck.nameSpace, "ops");
  const ParsedArguments ofServer = parse({"check", "upgrade", "--kubeconfig", "k"});
  ASSERT_TRUE(ofServer.line.options && ofServer.line.options->kubernetes) << ofServer.err;
  EXPECT_EQ(ofServer.line.options->kubernetes->kubeconfig, "k");
  EXPECT_EQ(ofServer.line.options->upgradeCheck.nameSpace, "sluice-system");
  EXPECT_EQ(parse({"check", "upgrade", "--config", "a", "--kubeconfig", "k"}).line.exitCode, 2);
}

TEST(CommandLine, TakesKeysAndANamespaceForThePodsOfAController) {
  const ParsedArguments pod = parse({"run", "--kubernetes", "--gateway", "team/egress", "--controller-namespace", "ops",
                                     "--class-keys", "egress-keys"});
  ASSERT_TRUE(pod.line.options) << pod.err;
  EXPECT_EQ(pod.line.options->kubernetes->controllerNamespace, "ops");
  EXPECT_EQ(pod.line.options->kubernetes->classKeys, "egress-keys");
  EXPECT_EQ(parse({"run", "--kubernetes", "--class-keys", "a"}).line.exitCode, 2) << "of which Gateway?";
  EXPECT_EQ(parse({"run", "--kubernetes", "--controller-namespace", "A"}).line.exitCode, 2);
}

TEST(CommandLine, TakesTargetsForCheckEgress) {
  const ParsedArguments parsed =
      parse({"check", "egress", "--target", "1.1.1.1:443", "--target", "udp://a.test:53", "--gateway", "egress.ops:80",
             "--timeout", "500ms", "--namespace", "team-a", "-o", "json"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  EXPECT_EQ(parsed.line.options->command, Command::kCheckEgress);
  const EgressCheckOptions& check = parsed.line.options->egressCheck;
  ASSERT_EQ(check.targets.size(), 2u);
  EXPECT_EQ(check.targets[1].host, "a.test");
  EXPECT_EQ(check.targets[1].protocol, net::ProbeProtocol::kUdp);
  EXPECT_EQ(check.gateway->host, "egress.ops");
  EXPECT_EQ(check.timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(check.nameSpace, "team-a");
  EXPECT_EQ(parsed.line.options->output, OutputFormat::kJson);
  const EgressCheckOptions plain = parse({"check", "egress"}).line.options->egressCheck;
  EXPECT_TRUE(plain.targets.empty() && !plain.gateway && plain.nameSpace.empty());
  EXPECT_EQ(plain.timeout, std::chrono::seconds(5));
}

TEST(CommandLine, RefusesWhatIsNoTargetForCheckEgress) {
  const auto mistake = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"check", "egress"});
    const ParsedArguments parsed = parse(std::move(arguments));
    EXPECT_EQ(parsed.line.exitCode, 2);
    return parsed.err;
  };
  using testing::StartsWith;
  EXPECT_THAT(mistake({"--target", "1.1.1.1"}), StartsWith("error: --target: \"1.1.1.1\" is not HOST:PORT or udp://"));
  EXPECT_THAT(mistake({"--gateway", "udp://a:1"}), StartsWith("error: --gateway: 'udp://a:1' is not HOST:PORT\n"));
  EXPECT_THAT(mistake({"--timeout", "5"}),
              StartsWith("error: --timeout: '5' is no duration between 1ms and 1m, as 5s"));
  mistake({"--timeout", "0s"});
  mistake({"--timeout", "61s"});
  mistake({"--namespace", "No"});
  EXPECT_EQ(parse({"check", "egress", "--timeout", "1m"}).line.exitCode, 0);
  EXPECT_EQ(parse({"check"}).err,
            "error: 'sluice check' needs a command: egress or upgrade\ntry 'sluice check --help'\n");
}

TEST(CommandLine, NeedsAUrlForExplain) {
  EXPECT_EQ(parse({"explain", "--config", "a"}).line.exitCode, 2);
  EXPECT_EQ(parse({"explain", "--config", "a", "--url", "http://a", "-o", "xml"}).line.exitCode, 2);
  const ParsedArguments plain = parse({"explain", "--config", "a", "--url", "http://a"});
  ASSERT_TRUE(plain.line.options);
  EXPECT_EQ(plain.line.options->request.method, "GET");
  EXPECT_EQ(plain.line.options->output, OutputFormat::kText);
  EXPECT_FALSE(plain.line.options->resolve);
}

TEST(CommandLine, TakesANamespaceForCatalogToPublishIn) {
  const ParsedArguments parsed = parse({"catalog", "--config", "a", "b"});
  ASSERT_TRUE(parsed.line.options);
  EXPECT_EQ(parsed.line.options->command, Command::kCatalog);
  EXPECT_EQ(parsed.line.options->config, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parsed.line.options->publishIn, "");
  EXPECT_EQ(parse({"catalog", "--config", "a", "--publish", "ops"}).line.options->publishIn, "ops");
  EXPECT_EQ(parse({"catalog"}).line.exitCode, 2);
  EXPECT_EQ(parse({"catalog", "--config", "a", "--publish", "No"}).line.exitCode, 2);
}

TEST(CommandLine, TakesFilesForConvert) {
  const ParsedArguments parsed = parse({"convert", "a.yaml", "b"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  EXPECT_EQ(parsed.line.options->command, Command::kConvert);
  EXPECT_EQ(parsed.line.options->config, (std::vector<std::string>{"a.yaml", "b"}));
  EXPECT_EQ(parse({"convert"}).line.exitCode, 2);
  EXPECT_EQ(parse({"convert", "a", "-o", "json"}).line.exitCode, 2) << "objects are YAML";
}

TEST(CommandLine, TopTakesAnIntervalWithinItsBounds) {
  const ParsedArguments parsed = parse({"top", "--admin", "127.0.0.1:7", "--interval", "1m30s"});
  ASSERT_TRUE(parsed.line.options) << parsed.err;
  EXPECT_EQ(parsed.line.options->command, Command::kTop);
  EXPECT_EQ(parsed.line.options->admin.port(), 7);
  EXPECT_EQ(parsed.line.options->interval, std::chrono::seconds(90));
  EXPECT_EQ(parse({"top"}).line.options->interval, std::chrono::seconds(1));
  for (const char* wrong : {"", "1", "0s", "99ms", "61m", "-1s"}) {
    EXPECT_EQ(parse({"top", "--interval", wrong}).line.exitCode, 2) << wrong;
  }
}

TEST(CommandLine, ReportsAMistakeOnStderrWithExitCodeTwo) {
  const std::vector<std::vector<const char*>> kMistakes = {
      {},
      {"run"},
      {"validate"},
      {"serve", "--config", "a"},
      {"run", "--config"},
      {"run", "--config", "a", "--nonsense"},
      {"run", "--config", "a", "--admin", "127.0.0.1"},
      {"run", "--config", "a", "--admin", "localhost:1"},
      {"run", "--config", "a", "--admin", "127.0.0.1:"},
      {"run", "--config", "a", "--admin", "127.0.0.1:65536"},
      {"run", "--config", "a", "--admin", "127.0.0.1:-1"},
      {"run", "--config", "a", "--admin", "127.0.0.1:80x"},
      {"run", "--config", "a", "--health", "[::1]"},
      {"run", "--config", "a", "--health", ":9902"},
      {"run", "--config", "a", "--workers", "-1"},
      {"run", "--config", "a", "--workers", "1025"},
      {"run", "--config", "a", "--workers", "many"},
      {"run", "--config", "a", "--log-level", "loud"},
      {"run", "validate", "--config", "a"},
  };
  for (const auto& arguments : kMistakes) {
    const ParsedArguments parsed = parse(arguments);
    std::string shown;
    for (const char* argument : arguments) shown += std::string(argument) + " ";
    EXPECT_FALSE(parsed.line.options) << shown;
    EXPECT_EQ(parsed.line.exitCode, 2) << shown;
    EXPECT_NE(parsed.err, "") << shown;
    EXPECT_EQ(parsed.out, "") << shown;
  }
}

TEST(CommandLine, ExitsWithZeroForHelpAndVersion) {
  const ParsedArguments help = parse({"--help"});
  EXPECT_FALSE(help.line.options);
  EXPECT_EQ(help.line.exitCode, 0);
  for (const char* part : {"run", "validate", "--version", "settings.yaml", "Exit status"})
    EXPECT_THAT(help.out, testing::HasSubstr(part));
  const ParsedArguments run = parse({"run", "--help"});
  EXPECT_EQ(run.line.exitCode, 0);
  for (const char* part : {"--config", "--admin", "--health", "--workers", "--log-level"})
    EXPECT_THAT(run.out, testing::HasSubstr(part));
  const ParsedArguments version = parse({"--version"});
  EXPECT_EQ(version.line.exitCode, 0);
  EXPECT_EQ(version.out, "sluice " SLUICE_VERSION "\n");
}

TEST(CommandLine, HelpPrintsWhatHelpFlagsPrint) {
  using Words = std::vector<const char*>;
  for (const Words& words : {Words{}, Words{"run"}, Words{"validate"}, Words{"revisions"}, Words{"revisions", "clear"},
                             Words{"check", "egress"}, Words{"help"}}) {
    Words asked{"help"};
    asked.insert(asked.end(), words.begin(), words.end());
    Words flagged = words;
    flagged.push_back("--help");
    const ParsedArguments help = parse(asked);
    EXPECT_FALSE(help.line.options);
    EXPECT_EQ(help.line.exitCode, 0) << help.err;
    EXPECT_EQ(help.out, parse(flagged).out);
    EXPECT_NE(help.out, "");
  }
}

TEST(CommandLine, HelpNamesTheWordThatIsNoCommand) {
  EXPECT_EQ(parse({"help", "vaildate"}).err,
            "error: there is no command 'vaildate'; did you mean 'validate'?\ntry 'sluice help --help'\n");
  EXPECT_EQ(parse({"help", "revisions", "claer"}).line.exitCode, 2);
  EXPECT_THAT(parse({"help", "run", "x"}).err, testing::HasSubstr("'sluice run' takes no argument 'x'"));
}

TEST(CommandLine, ValidateNeedsAPathInOneOfTwoForms) {
  EXPECT_THAT(parse({"validate", "--help"}).out,
              testing::AllOf(testing::HasSubstr("[PATH...]"), testing::Not(testing::HasSubstr("REQUIRED"))));
  EXPECT_THAT(parse({"validate"}).err, testing::HasSubstr("'sluice validate' needs PATH or --config PATH"));
}

TEST(CommandLine, ExplainResolvesWithAndWithoutFiles) {
  EXPECT_TRUE(parse({"explain", "--url", "http://a.test/", "--resolve"}).line.options->resolve);
}

}  // namespace
}  // namespace sluice::server
