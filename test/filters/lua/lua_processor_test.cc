// Tests the parts of a message that a script sees, and the changes that it makes.
#include "filters/lua/lua_processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/filters/lua/lua_rig.h"

namespace sluice::test {
namespace {

using processing::Phase;

TEST(LuaProcessor, ReadsAndChangesTheHeadOfARequest) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"(
    function request_headers(m)
      m.headers:set("X-Seen", m.method .. " " .. m.path .. " " .. m.scheme .. " " .. m.authority)
      m.headers:set("x-first", m.headers:get("X-Many"))
      m.headers:set("x-all", table.concat(m.headers:all("x-many"), "+"))
      m.headers:add("x-many", "c")
      m.headers:remove("x-old")
      m.path = "/new?x=1"
      m.method = "PURGE"
    end)"),
            "");
  rig.request({{"x-many", "a"}, {"x_old", "1"}, {"x-old", "2"}, {"x-many", "b"}}, "/old");
  rig.head().authority = "api.test";
  EXPECT_EQ(rig.run(), "continue");
  EXPECT_EQ(rig.requestFields(), "x-many=a;x-many=b;x-seen=GET /old http api.test;x-first=a;x-all=a+b;x-many=c;");
  EXPECT_EQ(rig.head().target, "/new?x=1");
  EXPECT_EQ(rig.head().methodText, "PURGE");
  EXPECT_EQ(rig.head().method, http::Method::kOther);
}

TEST(LuaProcessor, ReadsAndChangesTheHeadOfAResponse) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"(
    function response_headers(m)
      m.headers:set("x-was", m.status)
      m.status = 502
      local names = {}
      for name, value in m.headers:each() do names[#names + 1] = name .. "=" .. value end
      m.headers:set("x-names", table.concat(names, ","))
    end)"),
            "");
  rig.response(500, {{"server", "x"}});
  EXPECT_EQ(rig.run(Phase::kResponseHeaders), "continue");
  EXPECT_EQ(rig.responseHead().status, 502);
  EXPECT_EQ(rig.responseFields(), "server=x;x-was=500;x-names=server=x,x-was=500;");
}

TEST(LuaProcessor, AnswersInThePlaceOfTheBackend) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"(
    function request_headers(m)
      pcall(function() m:respond(403, {["X-Why"] = "no"}, "denied") end)
      m.headers:set("x-after", "1")
    end)"),
            "");
  rig.request({});
  EXPECT_EQ(rig.run(), "reply 403");
  EXPECT_EQ(rig.reply->body, "denied");
  ASSERT_EQ(rig.reply->fields.size(), 1U);
  EXPECT_EQ(rig.reply->fields[0].first, "x-why");
  EXPECT_EQ(rig.requestFields(), "") << "the call is over";
}

TEST(LuaProcessor, TellsFileAndLineOfAnError) {
  LuaRig rig;
  ASSERT_EQ(rig.load("function request_headers(m)\n  local x = nil\n  x.y = 1\nend"), "");
  rig.request({});
  EXPECT_EQ(rig.once(), "script_error: processor.lua:3: attempt to index a nil value (local 'x')");
  EXPECT_EQ(rig.load("function request_headers(m)\n  if\nend"), "processor.lua:3: unexpected symbol near 'end'");
  EXPECT_EQ(rig.load("error('no')"), "processor.lua:1: no");
}

TEST(LuaProcessor, ShowsTheClientOnlyBehindAuthentication) {
  LuaRig rig;
  const std::string script = R"(
    function request_headers(m)
      local of = ""
      for _, name in ipairs({"address", "namespace", "serviceAccount", "principal", "assurance"}) do
        of = of .. (m.source[name] or "-") .. " "
      end
      m.headers:set("x-of", of .. ".")
    end)";
  ASSERT_EQ(rig.load(script), "");
  rig.request({});
  EXPECT_EQ(rig.run(), "continue");
  EXPECT_EQ(rig.requestFields(), "x-of=192.0.2.1 apps worker spiffe://a.test/ns/apps/sa/worker Certificate .;");
  rig.peer = {"192.0.2.1", {}, {}};
  rig.request({});
  EXPECT_EQ(rig.once(), "continue");
  EXPECT_EQ(rig.requestFields(), "x-of=192.0.2.1 - - - None .;");
  rig.peer = {};
  rig.request({});
  EXPECT_EQ(rig.once(), "continue");
  EXPECT_EQ(rig.requestFields(), "x-of=- - - - - .;");
}

TEST(LuaProcessor, CannotChangeWhatBelongsToTheGateway) {
  LuaRig rig;
  for (const char* const work :
       {"m.headers:set('host', 'x')", "m.headers:add('content-length', '1')", "m.headers:remove('transfer-encoding')",
        "m.headers:set('x', 'a\\r\\nb')", "m.headers:set('x y', 'a')", "m.method = 'CONNECT'", "m.method = 'HEAD'",
        "m.method = 'a b'", "m.authority = 'x'", "m.x = 1", "m.path = 'x'", "m.status = 200", "m.headers.x = 1",
        "return m.nothing"}) {
    ASSERT_EQ(rig.load("function request_headers(m) " + std::string(work) + " end"), "");
    rig.request({{"host", "a"}});
    EXPECT_TRUE(rig.run().starts_with("script_error: processor.lua:1: ")) << work;
    EXPECT_EQ(rig.requestFields(), "host=a;") << work;
  }
}

TEST(LuaProcessor, MakesNoRequestUnrepeatableThatMayBeSentAgain) {
  LuaRig rig;
  ASSERT_EQ(
      rig.load(
          "function request_headers(m) m.method = 'POST' end function backend_request(m) m.method = m.path:sub(2) end"),
      "");
  rig.request({}, "/POST");
  EXPECT_EQ(rig.once(Phase::kBackendRequest),
            "script_error: processor.lua:1: m.method of an attempt must stay one that may be sent again");
  EXPECT_EQ(rig.head().method, http::Method::kGet);
  rig.request({}, "/PUT");
  EXPECT_EQ(rig.once(Phase::kBackendRequest), "continue");
  EXPECT_EQ(rig.head().method, http::Method::kPut);
  EXPECT_EQ(rig.once(), "continue");
  EXPECT_EQ(rig.head().method, http::Method::kPost) << "before there is an attempt";
  rig.request({}, "*");
  EXPECT_TRUE(rig.once().starts_with("script_error: "));
}

TEST(LuaProcessor, HasTheConfigOfItsUse) {
  LuaRig rig;
  rig.config = "{name: one}";
  ASSERT_EQ(rig.load("function request_headers(m) m.headers:set('x-of', m.config.name) end"), "");
  rig.request({});
  EXPECT_EQ(rig.run(), "continue");
  rig.end();
  EXPECT_EQ(rig.remake("{name: two}"), "");
  EXPECT_EQ(rig.run(), "continue");
  EXPECT_EQ(rig.requestFields(), "x-of=two;");
  ASSERT_EQ(rig.load("function request_headers(m) m.config.name = 'x' end"), "");
  EXPECT_TRUE(rig.run().starts_with("script_error: ")) << "the config is read-only";
}

TEST(LuaProcessor, ReturnsNothing) {
  LuaRig rig;
  ASSERT_EQ(rig.load("function request_headers(m) return {} end"), "");
  rig.request({});
  EXPECT_EQ(rig.run(), "script_error: request_headers returns a table, not nil");
}

TEST(LuaProcessor, HasTheWholeBodyOrItsPieces) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"(
    function request_headers(m) end
    function request_body(m) m.body:replace(m.body:text():upper()) end
    function response_body(m)
      local piece, last
      repeat
        piece, last = m.body:chunk()
        m.body:replace("<" .. piece .. ">")
      until last
    end)"),
            "");
  EXPECT_EQ(rig.processor().body(Phase::kRequestHeaders).mode, processing::BodyMode::kNone);
  EXPECT_EQ(rig.processor().body(Phase::kRequestBody).mode, processing::BodyMode::kBuffered);
  EXPECT_EQ(rig.processor().body(Phase::kResponseBody).mode, processing::BodyMode::kStreamed);
  rig.request({});
  EXPECT_EQ(rig.once(Phase::kRequestBody, "hello"), "continue");
  EXPECT_EQ(rig.passed, "HELLO");
  rig.response(200, {});
  rig.end();
  EXPECT_EQ(rig.run(Phase::kResponseBody, "", false), "continue") << "the head";
  EXPECT_EQ(rig.run(Phase::kResponseBody, "one", false), "continue");
  EXPECT_EQ(rig.passed, "<one>");
  EXPECT_EQ(rig.run(Phase::kResponseBody, "two", true), "continue");
  EXPECT_EQ(rig.passed, "<two>");
}

TEST(LuaProcessor, EditsSingleValuesOfADocument) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"(
    function request_body(m)
      local document = m.body:json()
      if not document then return m:respond(400, nil, "no JSON") end
      if document:get("/n") ~= 7 or document:get("/list")[2] ~= "b" or document:get("/none") ~= nil then error("?") end
      document:set("/model", "small")
      document:remove("/secret")
      document:set("/more", {1, {x = true}})
    end)"),
            "");
  rig.request({});
  EXPECT_EQ(rig.once(Phase::kRequestBody, R"({ "model":"big" , "n" : 7, "secret":1, "list":["a","b"],  "e":1e2 })"),
            "continue");
  EXPECT_EQ(rig.passed, R"({ "model":"small" , "n" : 7, "list":["a","b"],  "e":1e2,"more":[1,{"x":true}] })");
  EXPECT_EQ(rig.once(Phase::kRequestBody, "nothing"), "reply 400");
}

TEST(LuaProcessor, BoundsTheValuesThatItPutsIntoADocument) {
  LuaRig rig;
  rig.request({});
  for (const char* const work :
       {"local t = {} for i = 1, 20000 do t[i] = 1 end document:set('/x', t)",
        "local s, t = ('x'):rep(1000, ('y'):rep(100)), {} for i = 1, 100 do t[i] = s end document:set('/x', t)",
        "local t = {} for i = 1, 100 do t = {t} end document:set('/x', t)",
        "local t = {} t.t = t document:set('/x', t)", "document:set('/x', type)", "document:set('/x', 0/0)",
        "document:set('/x', {[1.5] = 1})", "document:set('x', 1)"}) {
    ASSERT_EQ(rig.load("function request_body(m) local document = m.body:json() " + std::string(work) + " end"), "");
    EXPECT_TRUE(rig.once(Phase::kRequestBody, "{}").starts_with("script_error: processor.lua:1: ")) << work;
    EXPECT_EQ(rig.passed, "{}");
  }
}

TEST(LuaProcessor, NarrowsADestination) {
  LuaRig rig;
  const processing::Destination::ResolvedAddress addresses[] = {{"192.0.2.1", 443, 0}, {"192.0.2.2", 443, 1}};
  processing::Destination destination("api.test", 443, "api.test", addresses);
  rig.destination = &destination;
  ASSERT_EQ(rig.load(R"(
    function connect(m)
      if m.destination.host ~= "api.test" or m.destination.port ~= 443 or m.destination.sni ~= "api.test" then error("?") end
      m:keep({"192.0.2.2", "198.51.100.1"})
    end)"),
            "");
  EXPECT_EQ(rig.run(Phase::kConnect), "continue");
  ASSERT_EQ(destination.addresses().size(), 1U);
  EXPECT_EQ(destination.addresses()[0].ip, "192.0.2.2");
  ASSERT_EQ(rig.load("function connect(m) m:deny() end"), "");
  EXPECT_EQ(rig.run(Phase::kConnect), "continue");
  EXPECT_TRUE(destination.addresses().empty());
}

TEST(LuaProcessor, SeesTheDestinationOfAConnectionWithoutNarrowingIt) {
  LuaRig rig;
  const processing::Destination::ResolvedAddress addresses[] = {{"192.0.2.1", 443, 0}};
  processing::Destination destination("api.test", 443, "api.test", addresses);
  rig.destination = &destination;
  ASSERT_EQ(rig.load("function backend_request(m) if m.destination.address ~= '192.0.2.1' then error('?') end end"),
            "");
  EXPECT_EQ(rig.run(Phase::kBackendRequest), "continue");
  for (const char* const work : {"m:deny()", "m:keep({})"}) {
    ASSERT_EQ(rig.load("function backend_request(m) " + std::string(work) + " end"), "");
    EXPECT_THAT(rig.run(Phase::kBackendRequest), ::testing::HasSubstr("is possible in the phase connect only")) << work;
  }
  EXPECT_EQ(destination.addresses().size(), 1U);
}

TEST(LuaProcessor, AsksForAnotherRoute) {
  LuaRig rig;
  ASSERT_EQ(rig.load("function request_headers(m) m:hint('x-model', 'small') m:rematch() end"), "");
  rig.request({});
  EXPECT_EQ(rig.run(), "continue");
  EXPECT_TRUE(rig.wish.matchAgain);
  ASSERT_EQ(rig.wish.hints.size(), 1U);
  EXPECT_EQ(rig.wish.hints.all()[0].value, "small");
}

TEST(LuaProcessor, CallsBackendsThatItsEntryNames) {
  LuaRig rig;
  rig.backends = "[{group: sluice.dev, name: guard, namespace: demo}]";
  rig.answer(200, {{"x-verdict", "good"}}, "yes");
  ASSERT_EQ(rig.load(R"(
    function request_headers(m)
      local answer = call("guard", {method = "POST", path = "/check", headers = {["x-a"] = "1"}, body = "text", timeout = "50ms"})
      m.headers:set("x-answer", answer.status .. answer.body .. answer.headers["x-verdict"])
    end)"),
            "");
  rig.request({});
  EXPECT_EQ(rig.run(), "continue");
  EXPECT_EQ(rig.requestFields(), "x-answer=200yesgood;");
  EXPECT_EQ(rig.server().sent(), "text");
  EXPECT_EQ(rig.server().asked().target, "/check");
  ASSERT_EQ(rig.load("function request_headers(m) call('other', {}) end"), "");
  EXPECT_EQ(rig.run(), "script_error: processor.lua:1: the entry of the catalog names no Backend 'other'");
  ASSERT_EQ(rig.load("function request_headers(m) for i = 1, 5 do call('demo/guard') end end"), "");
  EXPECT_EQ(rig.run(), "script_error: processor.lua:1: at most 4 calls of Backends");
}

TEST(LuaProcessor, LooksForTextsDigestsAndWritesRecords) {
  LuaRig rig;
  ASSERT_EQ(rig.load(R"lua(
    function request_headers(m)
      assert(re.match("(\\w+)@(\\w+)", "mail bob@example") == "bob")
      assert(re.find("b+", "aabb") == 3)
      assert(re.gsub("a(.)", "abac", "<%1>") == "<b><c>")
      assert(("a.b"):find(".") == 2)
      assert(("key=value"):match("(\\w+)=") == "key")
      local seen = {}
      for word in ("one two"):gmatch("\\w+") do seen[#seen + 1] = word end
      assert(#seen == 2 and seen[2] == "two")
      assert(("x"):gsub("x", function(all) return all .. "y" end) == "xy")
      assert(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      assert(#hmac_sha256("k", "v") == 64)
      assert(base64.decode(base64.encode("text")) == "text" and base64.decode("?") == nil)
      assert(type(time()) == "number")
      log.info("seen")
      metric.add("requests", 2)
    end)lua"),
            "");
  rig.request({});
  EXPECT_EQ(rig.run(), "continue");
  EXPECT_EQ(rig.services.lines, std::vector<std::string>{"seen"});
  EXPECT_EQ(rig.services.counts["requests"], 2U);
}

}  // namespace
}  // namespace sluice::test
