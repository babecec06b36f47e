#include "filters/library/library_engine.h"

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "filters/library/sluice_processor.h"
#include "test/filters/library/library_fixture.h"

namespace sluice::filters {
namespace {

using processing::Body;
using processing::BodyMode;
using processing::Cause;
using processing::Phase;
using processing::Verdict;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace fs = std::filesystem;

constexpr const char* kUnsupported = "UnsupportedExtensionType: library ";

TEST(LibraryEngine, RefusesLibrariesThatItCannotUseAndNamesFileAndReason) {
  LibraryRig library;
  const auto refusal = [&](const std::string& file) {
    library.file(file);
    return library.make("edit");
  };
  EXPECT_EQ(refusal("good.so"), "") << "it has a newer minor version";
  EXPECT_EQ(refusal("older.so"), "") << "it has an older one";
  EXPECT_THAT(refusal("absent.so"), StartsWith(std::string(kUnsupported) + "absent.so: it is not in the folder of "));
  EXPECT_EQ(refusal("no_symbol.so"),
            std::string(kUnsupported) + "no_symbol.so: it has no function sluice_processor_v1");
  EXPECT_THAT(refusal("other_major.so"), HasSubstr("it has version 2.7 of the interface, and this gateway has 1.2"));
  EXPECT_THAT(refusal("small_size.so"), HasSubstr("its table has a size of 8 bytes"));
  EXPECT_THAT(refusal("huge_size.so"), HasSubstr("its table has a size of 1099511627776 bytes"));
  EXPECT_THAT(refusal("no_process.so"), HasSubstr("it lacks configure, release or process"));
  EXPECT_THAT(refusal("throws.so"), HasSubstr("sluice_processor_v1() has thrown in the entry"));
  EXPECT_THAT(refusal("refuses.so"), HasSubstr("sluice_processor_v1() refuses this gateway"));
}

TEST(LibraryEngine, LoadsNothingFromOutsideOfItsFolder) {
  const OwnLibraries outside;
  const OwnLibraries folder;
  outside.add("good.so");
  folder.add("good-1.2.so");
  fs::create_symlink(outside.at("good.so"), folder.at("out.so"));
  fs::create_symlink("good-1.2.so", folder.at("in.so"));
  fs::create_directory(folder.at("folder.so"));
  std::ofstream(folder.at("text.so")) << "no library";
  LibraryRig library(folder.path());
  const auto refusal = [&](const std::string& file) {
    library.file(file);
    return library.make("edit");
  };
  EXPECT_EQ(refusal("in.so"), "");
  EXPECT_THAT(refusal("out.so"), HasSubstr("it leads out of the folder of --library-dir"));
  EXPECT_THAT(refusal("folder.so"), HasSubstr("it is not a file"));
  EXPECT_THAT(refusal("text.so"), HasSubstr("text.so"));
  for (const char* name : {"../good.so", "..", "'.'", "a/b.so", "/lib/a.so"}) {
    EXPECT_THAT(refusal(name), HasSubstr("it is not the name of a file without a path")) << name;
  }
  EXPECT_THAT(LibraryRig("/nowhere").make("edit"), HasSubstr("the folder of --library-dir cannot be read"));
}

TEST(LibraryEngine, AwaitsAFileThatIsMissing) {
  const OwnLibraries folder;
  LibraryRig library(folder.path());
  library.file("late.so");
  EXPECT_THAT(library.make("edit"), StartsWith(kUnsupported));
  const processing::Awaited* const awaited = library.rig.awaited();
  ASSERT_NE(awaited, nullptr);
  EXPECT_FALSE(awaited->mayHaveCome());
  folder.add("late.so");
  EXPECT_TRUE(awaited->mayHaveCome());
  EXPECT_EQ(library.make("edit"), "");
}

TEST(LibraryEngine, LoadsAnotherFileInThePlaceOfOneThatItRefused) {
  const OwnLibraries folder;
  fs::copy_file(fs::path(SLUICE_TEST_LIBRARIES) / "no_symbol.so", folder.at("a.so"));
  LibraryRig library(folder.path());
  library.file("a.so");
  EXPECT_THAT(library.make("edit"), HasSubstr("it has no function"));
  fs::remove(folder.at("a.so"));
  folder.add("a.so");
  EXPECT_EQ(library.make("edit"), "");
}

TEST(LibraryEngine, LetsTheLibraryJudgeTheConfigOfEachUse) {
  LibraryRig library;
  EXPECT_EQ(library.make("refuse-config"), "InvalidConfig: do: must be something else");
  EXPECT_THAT(library.make("nonsense-reason"), HasSubstr("InvalidConfig: the library gave a reason of 1099511627776"));
  EXPECT_EQ(library.make("throw-in-configure"), "InvalidConfig: the library has thrown in configure");
  library.rig.phase = Phase::kRequestBody;
  EXPECT_THAT(library.make("nonsense-body"), HasSubstr("the body of request-body in a form that is none: 9"));
  EXPECT_THAT(library.make("throw-in-body"), HasSubstr("in a form that is none: it has thrown in body"));
}

TEST(LibraryEngine, EditsTheHeadsOfBothSides) {
  LibraryRig library;
  library.rig.request({{"x-set", "0"}, {"x-old", "1"}, {"a", "b"}});
  EXPECT_EQ(library.run("edit").kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.requestFields(), "a=b;x-set=1;x-set=2;");
  EXPECT_EQ(library.rig.target(), "/other?q=1");
  library.rig.response(200, {{"x-old", "1"}});
  EXPECT_EQ(library.run("edit", Phase::kResponseHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.responseFields(), "x-set=1;x-set=2;");
}

TEST(LibraryEngine, ShowsTheMessageAndTheClient) {
  LibraryRig library;
  library.rig.request({{"a", "b"}});
  library.run("show");
  EXPECT_THAT(library.rig.requestFields(),
              HasSubstr("x-seen=0 0|GET|/||http|192.0.2.1|apps|worker|-|-|demo/egress|demo/route|demo/api|"
                        "spiffe://a.test/ns/apps/sa/worker|Certificate|-|a=b;"));
  library.rig.peer = {};
  library.rig.request({{"a", "b"}});
  library.run("show");
  EXPECT_THAT(library.rig.requestFields(),
              HasSubstr("x-seen=0 0|GET|/||http||||-|-|demo/egress|demo/route|demo/api|||-|a=b;"));
}

TEST(LibraryEngine, PermitsNoFieldOfTheGatewayAndNothingThatIsNoText) {
  LibraryRig library;
  library.rig.request({});
  EXPECT_EQ(library.run("trespass").kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.requestFields(), "x-done=00000000000;");
}

TEST(LibraryEngine, AnswersAndFailsAsTheLibrarySays) {
  LibraryRig library;
  library.rig.request({});
  const Verdict answer = library.run("respond");
  ASSERT_EQ(answer.kind(), Verdict::Kind::kReply);
  EXPECT_EQ(answer.reply().error.status, 451);
  EXPECT_EQ(answer.reply().body, "no");
  EXPECT_EQ(answer.reply().fields, (std::vector<std::pair<std::string, std::string>>{{"x-answer", "1"}}));
  const Verdict failure = library.run("fail");
  ASSERT_EQ(failure.kind(), Verdict::Kind::kFail);
  EXPECT_EQ(failure.reason(), "it is not its day");
  EXPECT_EQ(failure.cause(), Cause::kError);
}

TEST(LibraryEngine, SurvivesALibraryThatBreaksTheRules) {
  LibraryRig library;
  base::ChunkPool pool;
  base::ByteQueue bytes(pool);
  bytes.append("hello");
  const auto failureOf = [&](const std::string& does, Phase phase = Phase::kRequestHeaders, Body* body = nullptr) {
    library.rig.request({});
    const Verdict verdict = library.run(does, phase, body);
    return verdict.kind() == Verdict::Kind::kFail ? std::string(verdict.reason()) : "no failure";
  };
  EXPECT_EQ(failureOf("throw"), "the library has thrown over the border");
  EXPECT_EQ(failureOf("throw-a-number"), "the library has thrown something that is no std::exception");
  EXPECT_EQ(failureOf("nonsense-verdict"), "the library returned 42, which is no verdict");
  EXPECT_EQ(failureOf("respond-without"), "the library answers without an answer");
  EXPECT_EQ(failureOf("wait-for-nothing"), "the library waits without a handle");
  EXPECT_EQ(failureOf("nowhere"), "the library gave a value of a header field of 8 bytes that lie nowhere");
  EXPECT_EQ(failureOf("huge-header"), "the library gave a value of a header field of 1152921504606846976 bytes");
  EXPECT_THAT(failureOf("huge-name"), StartsWith("the library gave a name of a header field of 18446744073709551615"));
  EXPECT_THAT(failureOf("huge-reason"), StartsWith("the library gave a reason of 4294967296"));
  Body body(bytes, true);
  EXPECT_THAT(failureOf("huge-write", Phase::kRequestBody, &body), StartsWith("the library gave a piece of a body of"));
  EXPECT_EQ(failureOf("throw-at-the-end"), "no failure");
  library.rig.end();
}

TEST(LibraryEngine, GivesBodiesInTheFormThatTheLibraryWants) {
  LibraryRig library;
  const auto interest = [&](const std::string& does, Phase phase) {
    library.rig.phase = phase;
    EXPECT_EQ(library.make(does), "");
    return library.rig.processor().body(phase);
  };
  EXPECT_EQ(interest("whole", Phase::kRequestBody).mode, BodyMode::kBuffered);
  EXPECT_TRUE(interest("whole", Phase::kResponseBody).edits);
  EXPECT_EQ(interest("chunks", Phase::kResponseBody).mode, BodyMode::kStreamed);
  EXPECT_TRUE(interest("chunks", Phase::kBackendRequest).decoded);
  EXPECT_EQ(interest("inspect", Phase::kRequestBody).mode, BodyMode::kInspected);
  EXPECT_FALSE(interest("inspect", Phase::kRequestBody).edits);
  EXPECT_EQ(interest("edit", Phase::kRequestBody).mode, BodyMode::kNone);
  EXPECT_EQ(interest("whole", Phase::kRequestHeaders).mode, BodyMode::kNone);
}

TEST(LibraryEngine, ReplacesTheBytesOfACall) {
  LibraryRig library;
  base::ChunkPool pool;
  base::ByteQueue bytes(pool);
  bytes.append("hello");
  const auto result = [&](const std::string& does) {
    library.rig.request({});
    Body body(bytes, false);
    EXPECT_EQ(library.run(does, Phase::kRequestBody, &body).kind(), Verdict::Kind::kContinue);
    return body.isChanged() ? body.takeChanged().text() : "unchanged";
  };
  EXPECT_EQ(result("whole"), "[hello]");
  EXPECT_EQ(result("chunks"), "[hello]");
  EXPECT_EQ(result("drop"), "");
  EXPECT_EQ(result("inspect"), "unchanged");
}

TEST(LibraryEngine, NarrowsTheAddressesOfConnect) {
  LibraryRig library;
  library.rig.request({});
  const processing::Destination::ResolvedAddress addresses[] = {
      {"192.0.2.1", 443, 0}, {"192.0.2.2", 443, 1}, {"192.0.2.1", 80, 2}};
  processing::Destination destination("api.test", 443, "api.test", addresses);
  library.rig.destination = &destination;
  EXPECT_EQ(library.run("narrow", Phase::kConnect).kind(), Verdict::Kind::kContinue);
  ASSERT_EQ(destination.addresses().size(), 2U);
  EXPECT_EQ(destination.addresses()[0].ip, "192.0.2.2");
  EXPECT_EQ(destination.addresses()[1].port, 80);
  EXPECT_EQ(library.run("narrow", Phase::kBackendRequest).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(destination.addresses().size(), 2U) << "the connection is made";
}

TEST(LibraryEngine, RunsALibraryThatWasMadeForAnOlderGateway) {
  // A library of version 1.0 knows the functions up to `complete`, and they have their places still.
  EXPECT_EQ(offsetof(sluice_host, complete), 28 * sizeof(void*));
  LibraryRig library;
  library.file("older.so");
  library.rig.request({{"x-old", "1"}});
  EXPECT_EQ(library.run("edit").kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.requestFields(), "x-set=1;x-set=2;");
}

TEST(LibraryEngine, WritesAFewLinesIntoTheLogInEachStep) {
  LibraryRig library;
  library.rig.request({});
  EXPECT_EQ(library.run("write").kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.requestFields(), "x-written=16;");
  ASSERT_EQ(library.rig.services.lines.size(), 16U);
  EXPECT_EQ(library.rig.services.lines[15], "line 15");
  library.rig.run(Phase::kRequestHeaders);
  EXPECT_EQ(library.rig.requestFields(), "x-written=0;") << "the same step, asked again";
  library.rig.end();
  library.rig.run(Phase::kRequestHeaders);
  EXPECT_EQ(library.rig.requestFields(), "x-written=16;");
}

TEST(LibraryEngine, AsksForAnotherRoute) {
  LibraryRig library;
  library.rig.request({});
  EXPECT_EQ(library.run("route").kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.requestFields(), "x-routed=11;");
  EXPECT_TRUE(library.rig.wish.matchAgain);
  ASSERT_EQ(library.rig.wish.hints.size(), 1U);
  EXPECT_EQ(library.rig.wish.hints.all()[0].name, "x-model");
  EXPECT_EQ(library.rig.wish.hints.all()[0].value, "small");
}

TEST(LibraryEngine, ChangesTheTrailersBehindABody) {
  LibraryRig library;
  base::ChunkPool pool;
  base::ByteQueue bytes(pool);
  bytes.append("hello");
  http::Trailers trailers(pool);
  trailers.fields.add(trailers.arena, "x-old", "1");
  library.rig.request({});
  Body body(bytes, true);
  body.setTrailers(&trailers);
  EXPECT_EQ(library.run("trailers", Phase::kRequestBody, &body).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.requestFields(), "x-trailers=1 x-old=1 1001;");
  ASSERT_EQ(trailers.fields.size(), 1U);
  EXPECT_EQ(trailers.fields.all()[0].name, "x-new");
  Body none(bytes, true);
  library.rig.request({});
  EXPECT_EQ(library.run("trailers", Phase::kRequestBody, &none).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(library.rig.requestFields(), "x-trailers=0 0000;");
}

TEST(LibraryEngine, RunsInThePhasesOfItsTypeIfItsUseNamesNone) {
  LibraryRig library;
  EXPECT_EQ(library.make("edit"), "");
  EXPECT_EQ(std::vector<Phase>(library.rig.processor().phases().begin(), library.rig.processor().phases().end()),
            std::vector<Phase>{Phase::kRequestHeaders});
}

}  // namespace
}  // namespace sluice::filters
