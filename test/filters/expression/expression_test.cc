// Tests the values of expressions in tables: the language as CEL defines it, over one message.
#include "filters/expression/expression.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "test/filters/expression/expression_rig.h"

namespace sluice::filters {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kNoOverload = "error: an operand has a type that the operation does not take";

void expectAll(const Rows& rows, MessageSide side = MessageSide::kRequest) {
  test::ExpressionRig rig;
  for (const auto& [source, expected] : rows) EXPECT_EQ(rig(source, side), expected) << source;
}

TEST(Expressions, HaveLiterals) {
  expectAll({
      {"null", "null"},
      {"true", "true"},
      {"42", "42"},
      {"0x1F", "31"},
      {"-0x10", "-16"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"1.5", "double 1.5"},
      {".5", "double 0.5"},
      {"-2e3", "double -2000"},
      {"'a\"b'", R"("a\"b")"},
      {R"("\a\b\f\n\r\t\v\\\?\"\'\`")", R"("\u0007\b\f\n\r\t\u000b\\?\"'`")"},
      {R"("\x41\101\u00e9\U0001F600")", "\"AA\u00e9\U0001F600\""},
      {R"(r"\n")", R"("\\n")"},
      {R"(R'\')", R"("\\")"},
      {"'''a'b\n'''", R"("a'b\n")"},
      {R"("""a"b""")", R"("a\"b")"},
      {R"(r'''\''')", R"("\\")"},
      {"[]", "[]"},
      {"[1, 'a', [true,],]", "[1, \"a\", [true]]"},
      {"1 // one\n + 2", "3"},
  });
}

TEST(Expressions, ReadTheHeadOfTheRequest) {
  expectAll({
      {"request.method", "\"POST\""},
      {"request.scheme", "\"https\""},
      {"request.host", "\"api.example.com:8443\""},
      {"request.path", "\"/v1/chat?user=7&x=a%20b\""},
      {"request.url_path", "\"/v1/chat\""},
      {"request.query", "\"user=7&x=a%20b\""},
      {"request.headers['x-tier']", "\"gold\""},
      {"request.headers['X-Tier']", "\"gold\""},
      {"request.headers['x-' + 'tier']", "\"gold\""},
      {"request.headers.host", "\"api.example.com:8443\""},
      {"request.headers['x-many']", "\"one,two\""},
      {"request.headers.absent", "error: the message has no such header field"},
      {"request.headers[1]", kNoOverload},
      {"has(request.headers.host)", "true"},
      {"has(request.headers.absent)", "false"},
      {"'x-tier' in request.headers", "true"},
      {"'x-none' in request.headers", "false"},
      {"size(request.headers)", kNoOverload},
      {"request.headers == 1", kNoOverload},
  });
}

TEST(Expressions, ReadTheClient) {
  const Rows rows = {
      {"source.address", "\"192.0.2.1\""},     {"source.namespace", "\"apps\""},
      {"source.serviceAccount", "\"worker\""}, {"source.principal", "\"spiffe://a.test/ns/apps/sa/worker\""},
      {"source.assurance", "\"Certificate\""}, {"source.namespace + '/' + source.serviceAccount", "\"apps/worker\""}};
  expectAll(rows);
  expectAll(rows, MessageSide::kResponse);
}

TEST(Expressions, ReadNothingOfAClientThatIsNotShown) {
  test::ExpressionRig rig;
  rig.peer = {};
  for (const char* name : {"address", "namespace", "serviceAccount", "principal", "assurance"}) {
    EXPECT_EQ(rig("source." + std::string(name)), "\"\"") << name;
  }
  rig.peer.address = "192.0.2.1";
  EXPECT_EQ(rig("source.assurance"), "\"None\"") << "there is a client, of whom nothing is known";
}

TEST(Expressions, ReadTheResponse) {
  expectAll({{"response.code", "429"},
             {"response.code >= 400 ? 'failed' : 'good'", "\"failed\""},
             {"response.headers['retry-after']", "\"30\""},
             {"response.headers['x-tier']", "error: the message has no such header field"},
             {"request.headers['x-tier']", "\"gold\""},
             {"json(response.body).model", "\"small-1\""},
             {"size(response.body) > 10", "true"}},
            MessageSide::kResponse);
}

TEST(Expressions, ReadFieldsOfTheBody) {
  expectAll({
      {"json(request.body).model", "\"small-1\""},
      {"json(request.body)['model']", "\"small-1\""},
      {"json(request.body).n", "3"},
      {"json(request.body).t", "double 0.5"},
      {"json(request.body).big", "double 12345678901234567168"},
      {"json(request.body).on", "true"},
      {"json(request.body).none", "null"},
      {"json(request.body).tags", "json [\"a\", \"b\\n\", 7]"},
      {"json(request.body).tags[1]", R"("b\n")"},
      {"json(request.body).tags[1 + 1]", "7"},
      {"json(request.body).deep.a[0].c", "\"found\""},
      {"json(request.body).deep['x.y']", "\"dotted\""},
      {"json(request.body).deep.ab", "1"},
      {"json(request.body)[request.method.lowerAscii() == 'post' ? 'model' : 'n']", "\"small-1\""},
      {"json(request.body).model + json(request.body).deep.a[0].c", "\"small-1found\""},
      {"json(request.body).absent", "error: the body has no such field"},
      {"json(request.body).tags[3]", "error: the body has no such field"},
      {"json(request.body).tags[-1]", "error: a JSON text has no such field"},
      {"json(request.body).model.a", "error: the body has no such field"},
      {"json(request.body).tags.a", "error: the body has no such field"},
      {"request.body.startsWith('{\"model\"')", "true"},
      {"json('[1, {\"a\": [2]}]')[1].a[0]", "2"},
      {"json('\"\\\\u00e9\"')", "\"\u00e9\""},
      {"json(' 5 ')", "5"},
      {"json('5.')", "error: a text is no JSON"},
      {"json('{\"a\": 1, \"a\": 2}')", "error: a text is no JSON"},
      {"json('1e999')", "error: a number of the JSON text is out of range"},
      {"json(5)", kNoOverload},
  });
}

TEST(Expressions, TestWhetherAFieldExists) {
  expectAll({
      {"has(json(request.body).model)", "true"},
      {"has(json(request.body).absent)", "false"},
      {"has(json(request.body).none)", "true"},
      {"has(json(request.body).deep.a)", "true"},
      {"has(json(request.body).deep.b)", "false"},
      {"has(json(request.body).absent.b)", "error: the body has no such field"},
      {"has(json(request.body).model.b)", kNoOverload},
      {"has(json(request.body).tags.b)", kNoOverload},
      {"has(json(request.body).absent) ? json(request.body).absent : 'other'", "\"other\""},
      {"has(json('{\"a\": 1}').a)", "true"},
      {"has(json('{\"a\": 1}').b)", "false"},
      {"'model' in json(request.body)", "true"},
      {"'absent' in json(request.body)", "false"},
      {"7 in json(request.body).tags", "true"},
      {"'z' in json(request.body).tags", "false"},
      {"1 in json(request.body)", "false"},
      {"1 in 1", kNoOverload},
  });
}

TEST(Expressions, DoNotEvaluateFieldsOfABodyThatIsNoJson) {
  test::ExpressionRig rig;
  for (const char* bad : {"", " ", "{", "{\"model\": \"a\"} x", "{\"model\": \"a\", \"model\": \"b\"}", "\xFF"}) {
    rig.body = bad;
    EXPECT_EQ(rig("json(request.body).model"), "error: the body is no JSON") << bad;
    EXPECT_EQ(rig("[json(request.body).a, json(request.body).b]"), "error: the body is no JSON") << bad;
    EXPECT_EQ(rig("has(json(request.body).model)"), "error: the body is no JSON") << bad;
    EXPECT_EQ(rig("false && json(request.body).model == ''"), "false") << bad;
  }
  rig.body = "\xEF\xBB\xBF [ 1 , 2 ] \n";
  EXPECT_EQ(rig("json(request.body)[1]"), "2");
  EXPECT_EQ(rig("json(request.body)"), "json [ 1 , 2 ]");
}

TEST(Expressions, AbsorbErrorsInLogic) {
  expectAll({
      {"true || 1 / 0 == 0", "true"},
      {"1 / 0 == 0 || true", "true"},
      {"1 / 0 == 0 || false", "error: a number is divided by zero"},
      {"false && 1 / 0 == 0", "false"},
      {"1 / 0 == 0 && false", "false"},
      {"1 / 0 == 0 && true", "error: a number is divided by zero"},
      {"'a' || true", "true"},
      {"'a' && false", "false"},
      {"'a' || false", kNoOverload},
      {"true && 'a'", kNoOverload},
      {"!true", "false"},
      {"!!true", "true"},
      {"!1", kNoOverload},
      {"true ? 1 : 1 / 0", "1"},
      {"false ? 1 / 0 : 2", "2"},
      {"1 ? 2 : 3", kNoOverload},
      {"1 / 0 == 0 ? 2 : 3", "error: a number is divided by zero"},
      {"false ? 1 : true ? 2 : 3", "2"},
      {"true || false && false", "true"},
  });
}

TEST(Expressions, CompareNumbersByValue) {
  expectAll({
      {"1 == 1.0", "true"},
      {"1 < 1.5", "true"},
      {"-1 > -1.5", "true"},
      {"9007199254740993 == 9007199254740992.0", "false"},
      {"9007199254740993 > 9007199254740992.0", "true"},
      {"9223372036854775807 < 9223372036854775808.0", "true"},
      {"-9223372036854775808 == -9223372036854775808.0", "true"},
      {"0.0 / 0.0 == 0.0 / 0.0", "false"},
      {"0.0 / 0.0 != 1", "true"},
      {"0.0 / 0.0 < 1", "false"},
      {"1 < 1.0 / 0.0", "true"},
      {"json(request.body).n == 3.0", "true"},
  });
}

TEST(Expressions, CompareOtherValues) {
  expectAll({
      {"'a' < 'b'", "true"},
      {"'a' <= 'a'", "true"},
      {"'Z' > 'a'", "false"},
      {"'\\u00e9' > 'z'", "true"},
      {"false < true", "true"},
      {"'1' == 1", "false"},
      {"'1' != 1", "true"},
      {"null == null", "true"},
      {"null == false", "false"},
      {"'a' < 1", kNoOverload},
      {"null < null", kNoOverload},
      {"[1, 2] == [1.0, 2]", "true"},
      {"[1, 2] == [1]", "false"},
      {"[1] == [1, 2]", "false"},
      {"[1] < [2]", kNoOverload},
      {"json('[1, \"a\"]') == [1, 'a']", "true"},
      {"['a'] == json('[\"a\", 1]')", "false"},
      {"json('[1, [2]]') == json('[1.0, [2]]')", "true"},
      {"json('{\"a\": 1, \"b\": []}') == json('{\"b\": [], \"a\": 1}')", "true"},
      {"json('{\"a\": 1}') == json('{\"a\": 1, \"b\": 2}')", "false"},
      {"json('{\"a\": 1}') == json('{\"b\": 1}')", "false"},
      {"json('{}') == json('[]')", "false"},
      {"2 in [1, 2.0]", "true"},
      {"'b' in ['a']", "false"},
  });
}

TEST(Expressions, CalculateWithinTheirRange) {
  expectAll({
      {"1 + 2 * 3 - 4 / 2 % 2", "7"},
      {"7 / -2", "-3"},
      {"-7 % 2", "-1"},
      {"-(-5)", "5"},
      {"1.5 + 0.25", "double 1.75"},
      {"1.0 / 0.0", "double inf"},
      {"9223372036854775807 + 1", "error: a number is out of range"},
      {"-9223372036854775808 - 1", "error: a number is out of range"},
      {"9223372036854775807 * 2", "error: a number is out of range"},
      {"-9223372036854775808 / -1", "error: a number is out of range"},
      {"-9223372036854775808 % -1", "error: a number is out of range"},
      {"-(-9223372036854775807 - 1)", "error: a number is out of range"},
      {"1 / 0", "error: a number is divided by zero"},
      {"1 % 0", "error: a number is divided by zero"},
      {"1.5 % 1.0", kNoOverload},
      {"1 + 1.0", kNoOverload},
      {"'a' + 1", kNoOverload},
      {"'a' - 'b'", kNoOverload},
      {"-'a'", kNoOverload},
      {"'a' + 'b' + ''", "\"ab\""},
      {"[1] + ['a']", "[1, \"a\"]"},
      {"json('[1, 2]') + [3]", "[1, 2, 3]"},
      {"([1, 2] + [3])[2]", "3"},
      {"[1][1]", "error: a list has no such element"},
      {"[1][-1]", "error: a list has no such element"},
      {"[1]['a']", kNoOverload},
  });
}

TEST(Expressions, Convert) {
  expectAll({
      {"string(1)", "\"1\""},
      {"string(1.0)", "\"1\""},
      {"string(0.1)", "\"0.1\""},
      {"string(true)", "\"true\""},
      {"string('a')", "\"a\""},
      {"string(null)", kNoOverload},
      {"string(json(request.body).n)", "\"3\""},
      {"int('-42')", "-42"},
      {"int('4.2')", "error: a string is no integer"},
      {"int(' 4')", "error: a string is no integer"},
      {"int('9223372036854775808')", "error: a string is no integer"},
      {"int(-4.9)", "-4"},
      {"int(9223372036854775808.0)", "error: a number is out of range"},
      {"int(-9223372036854775808.0)", "error: a number is out of range"},
      {"int(0.0 / 0.0)", "error: a number is out of range"},
      {"int(true)", kNoOverload},
      {"double('1.5')", "double 1.5"},
      {"double(2)", "double 2"},
      {"double('x')", "error: a string is no number"},
      {"double(null)", kNoOverload},
      {"size('h\\u00e9llo')", "5"},
      {"'abc'.size()", "3"},
      {"size([1, 2])", "2"},
      {"size(json(request.body).tags)", "3"},
      {"size(json('{}'))", "0"},
      {"size(1)", kNoOverload},
  });
}

TEST(Expressions, HaveFunctionsOfStrings) {
  expectAll({
      {"'abc'.startsWith('ab')", "true"},
      {"'abc'.startsWith('b')", "false"},
      {"'abc'.endsWith('bc')", "true"},
      {"'abc'.contains('')", "true"},
      {"'abc'.contains('bc')", "true"},
      {"'abc'.contains('abcd')", "false"},
      {"'abc'.contains(1)", kNoOverload},
      {"1.5.contains('a')", kNoOverload},
      {"'gpt-4o'.matches('^gpt-[0-9]')", "true"},
      {"matches('xgpt', '^gpt')", "false"},
      {"'aXb'.lowerAscii()", "\"axb\""},
      {"'aXb\\u00e9'.upperAscii()", "\"AXB\u00e9\""},
      {"' \\t\\u00a0\\u3000a b\\u2003\\n'.trim()", "\"a b\""},
      {"' \\n'.trim()", "\"\""},
      {"'\\u00e9'.trim()", "\"\u00e9\""},
      {"'hello hello'.replace('he', 'we')", "\"wello wello\""},
      {"'hello hello'.replace('he', 'we', 1)", "\"wello hello\""},
      {"'hello'.replace('l', 'LL', 0)", "\"hello\""},
      {"'hello'.replace('l', '', -1)", "\"heo\""},
      {"'h\\u00e9'.replace('', '_')", "\"_h_\u00e9_\""},
      {"'a,b,,c'.split(',')", R"(["a", "b", "", "c"])"},
      {"'a,b,c'.split(',', 2)", R"(["a", "b,c"])"},
      {"'a,b,c'.split(',', 1)", R"(["a,b,c"])"},
      {"'a,b'.split(',', 0)", "[]"},
      {"'abc'.split('')", R"(["a", "b", "c"])"},
      {"'abc'.split('', 2)", R"(["a", "bc"])"},
      {"''.split(',')", R"([""])"},
      {"''.split('')", "[]"},
      {"'tacocat'.substring(4)", "\"cat\""},
      {"'tacocat'.substring(0, 4)", "\"taco\""},
      {"'t\\u00e9co'.substring(1, 2)", "\"\u00e9\""},
      {"'abc'.substring(3)", "\"\""},
      {"'abc'.substring(4)", "error: a position is outside of the string"},
      {"'abc'.substring(-1)", "error: a position is outside of the string"},
      {"'abc'.substring(2, 1)", "error: a position is outside of the string"},
      {"'abc'.substring(2, 4)", "error: a position is outside of the string"},
      {"request.path.split('?')[0].substring(1)", "\"v1/chat\""},
  });
}

TEST(Expressions, TakeBytesThatAreNoTextForCharacters) {
  test::ExpressionRig rig;
  rig.body = "a\xFF\xC3(\xE2\x82";
  EXPECT_EQ(rig("size(request.body)"), "6");
  EXPECT_EQ(rig("request.body.trim() == request.body"), "true");
  EXPECT_EQ(rig("request.body.substring(0, 1)"), "\"a\"");
  EXPECT_EQ(rig("size(request.body.split(''))"), "6");
}

TEST(Expressions, ReportWhichPartsOfTheBodyTheyRead) {
  const auto readsOf = [](std::string_view source) {
    BodyReads reads;
    ExpressionPatterns patterns({});
    EXPECT_TRUE(Expression::compile(source, MessageSide::kRequest, reads, patterns).ok()) << source;
    return reads;
  };
  EXPECT_FALSE(readsOf("request.headers.a + 'request.body'").any());
  EXPECT_TRUE(readsOf("request.body").any());
  EXPECT_TRUE(readsOf("true || json(request.body).a == 1").any());
  EXPECT_EQ(readsOf("json(request.body).a + json(request.body)['a']").paths().size(), 1U);
  EXPECT_EQ(readsOf("json(request.body).a + json(request.body).b[1]").paths().size(), 2U);
}

TEST(Expressions, AreLiterals) {
  BodyReads reads;
  ExpressionPatterns patterns({});
  const auto literal = Expression::compile("('a')", MessageSide::kRequest, reads, patterns);
  ASSERT_TRUE(literal.ok());
  ASSERT_NE(literal->literal(), nullptr);
  EXPECT_EQ(literal->literal()->text(), "a");
  const auto sum = Expression::compile("'a' + 'b'", MessageSide::kRequest, reads, patterns);
  EXPECT_EQ(sum->literal(), nullptr);
}

}  // namespace
}  // namespace sluice::filters
