// Tests the objects that --listen and --to make.
#include "proxy/server/command_line/forwarding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/control/report/configuration_report.h"
#include "proxy/control/text_source.h"

namespace sluice::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

control::CompiledConfiguration compiledOf(const std::string& text) {
  control::TextSource source({"command line", text});
  control::ConfigurationCache cache;
  return control::makeConfiguration(source.read(base::Secret("key")), nullptr, {}, cache);
}

std::string objectsOf(const std::vector<std::string>& listen, const std::vector<std::string>& to) {
  const auto objects = forwardingObjects(listen, to);
  return objects.ok() ? *objects : "error: " + objects.error().detail;
}

std::vector<std::string> placesOf(const control::CompiledConfiguration& configuration) {
  std::vector<std::string> places;
  for (const routing::Bind& bind : configuration.compiled.snapshot->binds) {
    places.push_back(bind.address + " " + std::to_string(bind.port));
  }
  return places;
}

TEST(Forwarding, IsServedAsItIsWritten) {
  for (const std::vector<std::string>& to :
       std::vector<std::vector<std::string>>{{"https://api.example.com"},
                                             {"http://127.0.0.1:3000"},
                                             {"h2c://[::1]"},
                                             {"http://a.test", "https://1.1.1.1"}}) {
    const control::CompiledConfiguration configuration = compiledOf(objectsOf({"127.0.0.1:8080", ":8081"}, to));
    EXPECT_TRUE(configuration.flawless()) << control::reportText(configuration);
    EXPECT_THAT(placesOf(configuration), ElementsAre(" 8081", "127.0.0.1 8080"));
  }
}

TEST(Forwarding, ListensAtEveryPlace) {
  const auto places = [](const std::vector<std::string>& listen) {
    return placesOf(compiledOf(objectsOf(listen, {"http://a.test"})));
  };
  EXPECT_THAT(places({"127.0.0.1:1", "[::1]:1", "127.0.0.1:2"}), ElementsAre("127.0.0.1 1", "127.0.0.1 2", "::1 1"));
  EXPECT_THAT(places({"0.0.0.0:1", "[::]:2"}), ElementsAre("0.0.0.0 1", ":: 2"));
  EXPECT_THAT(places({":1"}), ElementsAre(" 1"));
}

TEST(Forwarding, SharesTheRequestsEqually) {
  const std::string text = objectsOf({":1"}, {"http://a.test", "http://b.test", "http://a.test"});
  for (const char* name : {"name: origin}", "name: origin-2}", "name: origin-3}"}) {
    EXPECT_THAT(text, HasSubstr(std::string("{group: sluice.dev, kind: Backend, ") + name));
  }
  EXPECT_THAT(text, Not(HasSubstr("weight")));
}

TEST(Forwarding, AllowsTheVeryAddressesThatItNames) {
  EXPECT_THAT(objectsOf({":1"}, {"https://api.example.com", "https://1.1.1.1"}), Not(HasSubstr("addressGuard")));
  EXPECT_THAT(objectsOf({":1"}, {"http://127.0.0.1:1", "http://a.test", "http://127.0.0.1:2", "http://[fd00::1]"}),
              HasSubstr("addressGuard: {allow: [\"127.0.0.1/32\", \"fd00::1/128\"]}"));
}

TEST(Forwarding, NamesTheFlagThatIsWrong) {
  EXPECT_EQ(objectsOf({":1"}, {"http://a.test", "b.test"}),
            "error: --to b.test: must begin with https://, http:// or h2c://, as https://api.example.com");
  EXPECT_EQ(objectsOf({":1"}, {"http://me:secret@a.test"}), "error: --to: cannot have a user or a password");
  for (const char* listen : {"", "8080", "127.0.0.1", ":0", "127.0.0.1:0", "localhost:80", "*:80", "[::1]:80x"}) {
    EXPECT_THAT(objectsOf({listen}, {"http://a.test"}), HasSubstr(": must be ADDRESS:PORT")) << listen;
  }
}

TEST(Forwarding, RefusesToListenTwiceAtOnePlace) {
  const std::vector<std::vector<std::string>> kTwice = {
      {":1", ":1"}, {"127.0.0.1:1", ":1"}, {":1", "127.0.0.1:1"}, {"0.0.0.0:1", "127.0.0.1:1"}, {"[::]:1", "[::1]:1"}};
  for (const auto& listen : kTwice) {
    EXPECT_THAT(objectsOf(listen, {"http://a.test"}), HasSubstr("another --listen has this address and port"));
  }
}

TEST(Forwarding, HasBounds) {
  std::vector<std::string> listen;
  for (int port = 1; port <= 32; ++port) listen.push_back("127.0.0." + std::to_string(port) + ":80");
  const std::vector<std::string> to(16, "http://a.test");
  EXPECT_TRUE(compiledOf(objectsOf(listen, to)).flawless());
  listen.emplace_back("127.0.0.1:81");
  EXPECT_EQ(objectsOf(listen, to), "error: --listen: there are more than 32");
  EXPECT_EQ(objectsOf({":1"}, std::vector<std::string>(17, "http://a.test")), "error: --to: there are more than 16");
}

TEST(TextSource, ReadsTheSameSetEachTime) {
  control::TextSource source({"command line", objectsOf({":1"}, {"http://a.test"})});
  const config::ObjectSet first = source.read(base::Secret("key"));
  EXPECT_THAT(first.problems, IsEmpty());
  EXPECT_EQ(first.readings.size(), source.read(base::Secret("key")).readings.size());
  ASSERT_FALSE(first.texts.empty());
  EXPECT_EQ(first.texts.front()->file, "command line");
}

}  // namespace
}  // namespace sluice::server
