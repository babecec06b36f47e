#include "filters/expression/vocabulary.h"

namespace sluice::filters {
namespace {

// Names and meanings are those of Envoy's attributes (its manual, "Attributes"), except for the names of callers.
constexpr AttributeRow kAttributeRows[] = {
    {"request.method", Attribute::kRequestMethod},     {"request.scheme", Attribute::kRequestScheme},
    {"request.host", Attribute::kRequestHost},         {"request.path", Attribute::kRequestPath},
    {"request.url_path", Attribute::kRequestUrlPath},  {"request.query", Attribute::kRequestQuery},
    {"request.headers", Attribute::kRequestHeaders},   {"request.body", Attribute::kRequestBody},
    {"response.code", Attribute::kResponseCode},       {"response.headers", Attribute::kResponseHeaders},
    {"response.body", Attribute::kResponseBody},       {"source.address", Attribute::kSourceAddress},
    {"source.namespace", Attribute::kSourceNamespace}, {"source.serviceAccount", Attribute::kSourceServiceAccount},
    {"source.principal", Attribute::kSourcePrincipal}, {"source.assurance", Attribute::kSourceAssurance},
};

constexpr FunctionRow kFunctionRows[] = {
    {"has", Function::kHas, true, false, 1, 1, "has(x.name)", "has($.name)"},
    {"json", Function::kJson, true, false, 1, 1, "json(text)", "json($)"},
    {"size", Function::kSize, true, true, 1, 1, "size(x)", "size($)"},
    {"string", Function::kString, true, false, 1, 1, "string(x)", "string($)"},
    {"int", Function::kInt, true, false, 1, 1, "int(x)", "int($)"},
    {"double", Function::kDouble, true, false, 1, 1, "double(x)", "double($)"},
    {"startsWith", Function::kStartsWith, false, true, 2, 2, "text.startsWith(prefix)", "$.startsWith($)"},
    {"endsWith", Function::kEndsWith, false, true, 2, 2, "text.endsWith(suffix)", "$.endsWith($)"},
    {"contains", Function::kContains, false, true, 2, 2, "text.contains(part)", "$.contains($)"},
    {"matches", Function::kMatches, true, true, 2, 2, "text.matches(\"pattern\")", "$.matches('a+')"},
    {"lowerAscii", Function::kLowerAscii, false, true, 1, 1, "text.lowerAscii()", "$.lowerAscii()"},
    {"upperAscii", Function::kUpperAscii, false, true, 1, 1, "text.upperAscii()", "$.upperAscii()"},
    {"trim", Function::kTrim, false, true, 1, 1, "text.trim()", "$.trim()"},
    {"replace", Function::kReplace, false, true, 3, 4, "text.replace(old, new, most)", "$.replace($, $, $)"},
    {"split", Function::kSplit, false, true, 2, 3, "text.split(separator, most)", "$.split($, $)"},
    {"substring", Function::kSubstring, false, true, 2, 3, "text.substring(from, to)", "$.substring($, $)"},
};

constexpr FormRow kFormRows[] = {
    {"\"text\", 'text', \"\"\"text\"\"\"", R"("a\n\x41\u00e9\101")"},
    {"r\"text\"", R"(r'a\n')"},
    {"1, -1, 0x1F", "-0x1F"},
    {"1.5, 1e3", "1.5e3"},
    {"true, false, null", "null"},
    {"[x, y]", "[$, $, ]"},
    {"x.name", "$.name"},
    {"x[y]", "$[$]"},
    {"x == y, x != y", "$ != $"},
    {"x < y, x <= y, x > y, x >= y", "$ >= $"},
    {"x in y", "$ in $"},
    {"!x, x && y, x || y", "!$ && $ || $"},
    {"x ? y : z", "$ ? $ : $"},
    {"-x, x + y, x - y", "-$ + $ - $"},
    {"x * y, x / y, x % y", "$ * $ / $ % $"},
};

}  // namespace

std::span<const AttributeRow> expressionAttributes() { return kAttributeRows; }
std::span<const FunctionRow> expressionFunctions() { return kFunctionRows; }
std::span<const FormRow> expressionForms() { return kFormRows; }

}  // namespace sluice::filters
