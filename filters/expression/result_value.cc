#include "filters/expression/result_value.h"

#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "filters/expression/expression.h"
#include "proxy/content/json.h"
#include "proxy/content/json_scan.h"

namespace sluice::filters {
namespace {

using content::Value;

base::Result<Value> numberValue(const Datum& datum) {
  if (datum.is(DatumType::kDouble) && !std::isfinite(datum.asDouble())) {
    return base::Error::config("a number is infinite, which JSON has no spelling for");
  }
  Value value;
  value.kind = Value::Kind::kNumber;
  value.text = datum.text();
  if (!value.text.empty()) return value;
  char digits[32];  // the shortest spelling of a double has 24 characters at most
  const auto written = datum.is(DatumType::kInt) ? std::to_chars(digits, digits + sizeof digits, datum.asInt())
                                                 : std::to_chars(digits, digits + sizeof digits, datum.asDouble());
  value.text.assign(digits, written.ptr);
  return value;
}

/// Converts values, and counts the bytes of all of them.
class ValueWriter {
 public:
  base::Result<Value> write(const Datum& datum) {
    bytes_ += datum.text().size() + 1;
    if (bytes_ > Expression::kMostResultBytes + 1) return base::Error::config("the value is too long");
    Value value;
    switch (datum.type()) {
      case DatumType::kError:
        return base::Error::config(std::string(datum.text()));
      case DatumType::kNull:
        return value;
      case DatumType::kBool:
        value.kind = Value::Kind::kBool;
        value.text = datum.asBool() ? "true" : "false";
        return value;
      case DatumType::kInt:
      case DatumType::kDouble:
        return numberValue(datum);
      case DatumType::kString:
        value.kind = Value::Kind::kString;
        value.text = datum.text();
        return value;
      case DatumType::kList:
        return list(datum);
      case DatumType::kJson:
        return content::parseJson(datum.text(), {datum.text().size(), content::JsonScan::kMostDepth});
      case DatumType::kHeaders:
        break;
    }
    return base::Error::config("the value is no JSON");
  }

 private:
  base::Result<Value> list(const Datum& datum) {
    Value value;
    value.kind = Value::Kind::kList;
    for (const Datum& item : datum.items()) {
      auto each = write(item);
      if (!each) return each;
      value.items.push_back(std::move(each).value());
    }
    return value;
  }

  std::size_t bytes_ = 0;
};

}  // namespace

base::Result<Value> resultValue(const Datum& datum) { return ValueWriter().write(datum); }

}  // namespace sluice::filters
