// Tests clients that fetch whole trees through a forward proxy: git, and apt. Their origin is nginx.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "test/integration/proxy/client_stage.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Serves the files of a folder by nginx, without TLS and with it.
class FileServer {
 public:
  FileServer(const std::string& root, const CertifiedKey& identity) {
    folder_.write("origin.crt", identity.certificate);
    folder_.write("origin.key", identity.key);
    const std::string configuration =
        folder_.write("nginx.conf",
                      "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\n  access_log off;\n"
                      "  client_body_temp_path b;\n  proxy_temp_path p;\n  fastcgi_temp_path f;\n"
                      "  uwsgi_temp_path u;\n  scgi_temp_path s;\n  server {\n    listen 127.0.0.1:" +
                          std::to_string(port_) + ";\n    listen 127.0.0.1:" + std::to_string(tlsPort_) +
                          " ssl;\n    ssl_certificate origin.crt;\n    ssl_certificate_key origin.key;\n    root " +
                          root + ";\n  }\n}\n");
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{"nginx", "-p", folder_.path(), "-c", configuration, "-e", "stderr"});
    EXPECT_TRUE(waitForPort(port_)) << process_->errors();
  }

  std::string plain() const { return "http://" + ClientStage::at(port_); }
  std::string secure() const { return "https://" + ClientStage::at(tlsPort_); }

 private:
  TempDir folder_;
  const std::uint16_t port_ = freePort();
  const std::uint16_t tlsPort_ = freePort();
  std::unique_ptr<ChildProcess> process_;
};

/// Runs a script of the shell in a folder, with the arguments $1 and so on.
ProgramOutcome shell(const ClientStage& stage, const std::string& folder, const std::string& script,
                     const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> argv = {"sh", "-euc", "cd \"$0\"\n" + script, folder};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run(stage.inEnvironment(argv));
}

/// Makes a repository with 20 commits, and a bare copy of it.
constexpr const char* kMakeRepository = R"sh(
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git init -q made && cd made
for number in $(seq 20); do
  seq "$number" 20000 > "file-$number"
  git add . && git -c user.name=test -c user.email=test@origin.test commit -q -m "number $number"
done
cd .. && git clone -q --bare made made.git && git -C made.git update-server-info
)sh";

TEST(ProxiedGit, ClonesARepository) {
  ClientStage stage;
  const TempDir folder;
  const ProgramOutcome made = shell(stage, folder.path(), kMakeRepository);
  ASSERT_EQ(made.exitCode, 0) << made.output << made.errors;
  const FileServer origin(folder.path(), stage.identity());
  const ProgramOutcome got = shell(stage, folder.path(), R"sh(
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_SSL_CAINFO="$1" GIT_TERMINAL_PROMPT=0
for url in "$2" "$3"; do
  git clone -q "$url/made.git" cloned
  git -C cloned log --oneline | wc -l
  cmp made/file-20 cloned/file-20
  rm -rf cloned
done
)sh",
                                   {stage.authorities(), origin.plain(), origin.secure()});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_EQ(got.output, "20\n20\n");
  EXPECT_TRUE(stage.gateway().process().waitForLine("\"way\":\"connect\""));
}

/// Serves the repositories of a folder by git http-backend behind TLS.
class SmartGitServer {
 public:
  SmartGitServer(const std::string& root, const CertifiedKey& identity) {
    const std::string certificate = folder_.write("origin.crt", identity.certificate);
    const std::string key = folder_.write("origin.key", identity.key);
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{"/usr/bin/python3", std::string(kClients) + "git_origin.py", root, certificate, key});
    const auto line = process_->waitForLine("listening on ");
    EXPECT_TRUE(line) << process_->errors();
    if (line) port_ = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1)));
  }

  std::string url() const { return "https://" + ClientStage::at(port_); }
  ChildProcess& process() { return *process_; }

 private:
  TempDir folder_;
  std::uint16_t port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

TEST(ProxiedGit, ClonesFetchesAndPushesByTheSmartProtocol) {
  ClientStage stage;
  const TempDir folder;
  const ProgramOutcome made = shell(stage, folder.path(), std::string(kMakeRepository) + R"sh(
git -C made.git config http.receivepack true
)sh");
  ASSERT_EQ(made.exitCode, 0) << made.output << made.errors;
  SmartGitServer origin(folder.path(), stage.identity());
  const ProgramOutcome got = shell(stage, folder.path(), R"sh(
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_SSL_CAINFO="$1" GIT_TERMINAL_PROMPT=0
git clone -q --depth 3 "$2/made.git" cloned && cd cloned
git log --oneline | wc -l
git fetch -q --unshallow
git log --oneline | wc -l
cmp ../made/file-20 file-20
head -c 3000000 /dev/urandom > large
git add large && git -c user.name=test -c user.email=test@origin.test commit -q -m large
git push -q origin HEAD
git -C ../made.git log --oneline | wc -l
)sh",
                                   {stage.authorities(), origin.url()});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors << origin.process().errors();
  EXPECT_EQ(got.output, "3\n20\n21\n");
  EXPECT_TRUE(origin.process().waitForLine("POST /made.git/git-receive-pack"));
  EXPECT_TRUE(stage.gateway().process().waitForLine("\"way\":\"connect\""));
}

TEST(ProxiedApt, UpdatesAndDownloads) {
  ClientStage stage;
  const TempDir folder;
  const ProgramOutcome made = shell(stage, folder.path(), R"sh(
mkdir -p debian/made/DEBIAN
printf 'Package: made\nVersion: 1\nArchitecture: all\nMaintainer: test <test@origin.test>\nDescription: made by a test\n' > debian/made/DEBIAN/control
dpkg-deb --build debian/made debian/made_1_all.deb >/dev/null
{ cat debian/made/DEBIAN/control
  echo "Filename: ./made_1_all.deb"
  echo "Size: $(stat -c %s debian/made_1_all.deb)"
  echo "SHA256: $(sha256sum debian/made_1_all.deb | cut -d' ' -f1)";
} > debian/Packages
)sh");
  ASSERT_EQ(made.exitCode, 0) << made.output << made.errors;
  const FileServer origin(folder.path(), stage.identity());
  for (const std::string& url : {origin.plain(), origin.secure()}) {
    const ProgramOutcome got = shell(stage, folder.path(), R"sh(
rm -rf state cache lists made_1_all.deb && mkdir -p state/lists/partial cache/archives/partial
echo "deb [trusted=yes] $1/debian ./" > sources.list
apt() {
  apt-get -q -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$PWD/state" \
    -o Dir::State::status=/dev/null -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none \
    -o Acquire::http::Proxy="$2" -o Acquire::https::Proxy="$2" -o Acquire::https::CAInfo="$3" -o Acquire::Retries=0 "$4" $5
}
apt "$1" "$2" "$3" update ""
apt "$1" "$2" "$3" download made
cmp made_1_all.deb debian/made_1_all.deb
)sh",
                                     {url, stage.proxy(), stage.authorities()});
    EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  }
  for (const char* way : {"absolute", "connect"}) {
    EXPECT_TRUE(stage.gateway().process().waitForLine("\"way\":\"" + std::string(way) + "\"")) << way;
  }
}

}  // namespace
}  // namespace sluice::test
