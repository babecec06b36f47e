#include "filters/message_edits.h"

#include "filters/body_path.h"
#include "filters/expression/arithmetic.h"
#include "filters/expression/result_value.h"
#include "proxy/content/json_pointer.h"
#include "proxy/http/field_grammar.h"
#include "proxy/processing/field_edits.h"

namespace sluice::filters {
namespace {

using base::Error;
using processing::Verdict;

/// Returns the name of the edited field: the member of a map, or the value itself if it is a text.
std::string_view nameOf(const content::Value& edit) {
  const content::Value* name = edit.find("name");
  return name != nullptr ? name->text : edit.text;
}

std::string placeIn(std::string_view list, std::size_t index, std::string_view member) {
  return std::string(list) + "[" + std::to_string(index) + "]" + std::string(member) + ": ";
}

/// Reads "$.a[0]", or "a[0]" without the beginning of a JSONPath.
base::Result<content::JsonPointer> readPlace(std::string_view text) {
  std::string query(text);
  if (!text.starts_with('$')) query = (text.starts_with('[') ? "$" : "$.") + query;
  const auto path = BodyPath::fromJsonPath(query);
  if (!path) return Error::config(path.error().detail + (query == text ? "" : ", in " + query));
  std::string pointer;
  for (const content::JsonStep& step : path->steps()) {
    if (step.index && *step.index < 0) return Error::config("an index from the end is not supported");
    pointer += "/" + (step.name ? content::pointerToken(*step.name) : std::to_string(*step.index));
  }
  if (pointer.empty()) return Error::config("is the whole body");
  return content::JsonPointer::parse(pointer);
}

/// Calls visit(value, index) for each item of a list, until it fails.
template <typename Visit>
base::Status eachEdit(const content::Value& part, std::string_view list, Visit&& visit) {
  const content::Value* items = part.find(list);
  for (std::size_t i = 0; items != nullptr && i < items->items.size(); ++i) {
    if (base::Status status = visit(items->items[i], i); !status) return status;
  }
  return base::Done{};
}

Verdict failure(const ExpressionInput& input, const std::string& where, std::string_view what) {
  const bool isBad = input.body != nullptr && input.body->isBad();
  return Verdict::fail(where + std::string(what), isBad ? processing::Cause::kBadBody : processing::Cause::kError);
}

}  // namespace

base::Result<MessageEdits> MessageEdits::read(const content::Value& part, MessageSide side) {
  MessageEdits edits;
  if (auto status = edits.readHeaders(part, side); !status) return std::move(status).error();
  if (auto status = edits.readBody(part, side); !status) return std::move(status).error();
  return edits;
}

bool MessageEdits::isEmpty() const { return set_.empty() && add_.empty() && remove_.empty() && !editsBody(); }

base::Result<Expression> MessageEdits::expression(const content::Value& edit, MessageSide side) {
  const content::Value* value = edit.find("value");
  return Expression::compile(value != nullptr ? std::string_view(value->text) : std::string_view(), side, reads_);
}

base::Status MessageEdits::readFields(const content::Value& part, std::string_view list, MessageSide side,
                                      std::vector<FieldEdit>& edits) {
  return eachEdit(part, list, [&](const content::Value& edit, std::size_t i) -> base::Status {
    auto name = processing::editableField(nameOf(edit));
    if (!name) return Error::config(placeIn(list, i, ".name") + name.error().detail);
    auto value = expression(edit, side);
    if (!value) return Error::config(placeIn(list, i, ".value") + value.error().detail);
    if (const Datum* literal = value->literal(); literal != nullptr && !http::isFieldValue(literal->text())) {
      return Error::config(placeIn(list, i, ".value") + "is not the value of a header field");
    }
    edits.push_back({std::move(name).value(), std::move(value).value()});
    return base::Done{};
  });
}

base::Status MessageEdits::readHeaders(const content::Value& part, MessageSide side) {
  if (auto status = readFields(part, "setHeaders", side, set_); !status) return status;
  if (auto status = readFields(part, "addHeaders", side, add_); !status) return status;
  return eachEdit(part, "removeHeaders", [&](const content::Value& edit, std::size_t i) -> base::Status {
    auto name = processing::editableField(nameOf(edit));
    if (!name) return Error::config(placeIn("removeHeaders", i, "") + name.error().detail);
    remove_.push_back(std::move(name).value());
    return base::Done{};
  });
}

base::Status MessageEdits::readBody(const content::Value& part, MessageSide side) {
  auto status = eachEdit(part, "setBodyFields", [&](const content::Value& edit, std::size_t i) -> base::Status {
    auto place = readPlace(nameOf(edit));
    if (!place) return Error::config(placeIn("setBodyFields", i, ".name") + place.error().detail);
    auto value = expression(edit, side);
    if (!value) return Error::config(placeIn("setBodyFields", i, ".value") + value.error().detail);
    setBody_.push_back({std::move(place).value(), std::move(value).value()});
    return base::Done{};
  });
  if (!status) return status;
  return eachEdit(part, "removeBodyFields", [&](const content::Value& edit, std::size_t i) -> base::Status {
    auto place = readPlace(nameOf(edit));
    if (!place) return Error::config(placeIn("removeBodyFields", i, "") + place.error().detail);
    removeBody_.push_back(std::move(place).value());
    return base::Done{};
  });
}

std::optional<Verdict> MessageEdits::evaluate(const std::vector<FieldEdit>& edits, std::string_view list,
                                              const ExpressionInput& input, base::Arena& arena,
                                              MessageChanges& changes) {
  for (std::size_t i = 0; i < edits.size(); ++i) {
    Meter meter(arena);
    Datum value = edits[i].value.evaluate(input, meter);
    if (!value.isError()) value = toString(value, meter);
    if (value.isError()) return failure(input, placeIn(list, i, ".value"), value.text());
    if (!http::isFieldValue(value.text())) {
      return failure(input, placeIn(list, i, ".value"), "the result is not the value of a header field");
    }
    changes.fields.emplace_back(edits[i].name, arena.copy(value.text()));
  }
  return std::nullopt;
}

std::optional<Verdict> MessageEdits::prepare(const ExpressionInput& input, base::Arena& arena,
                                             MessageChanges& changes) const {
  if (auto failed = evaluate(set_, "setHeaders", input, arena, changes)) return failed;
  if (auto failed = evaluate(add_, "addHeaders", input, arena, changes)) return failed;
  if (!editsBody()) return std::nullopt;
  return editBody(input, arena, changes);
}

std::optional<Verdict> MessageEdits::editBody(const ExpressionInput& input, base::Arena& arena,
                                              MessageChanges& changes) const {
  if (!input.body->check()) return Verdict::fail("the body is no JSON", processing::Cause::kBadBody);
  std::vector<content::JsonEdit> edits;
  for (std::size_t i = 0; i < setBody_.size(); ++i) {
    Meter meter(arena);
    auto value = resultValue(setBody_[i].value.evaluate(input, meter));
    if (!value) return failure(input, placeIn("setBodyFields", i, ".value"), value.error().detail);
    edits.push_back({setBody_[i].place, std::move(value).value()});
  }
  for (const content::JsonPointer& place : removeBody_) edits.push_back({place, std::nullopt});
  auto edited = content::editJson(input.body->text(), edits);
  if (!edited) return failure(input, "", edited.error().detail);
  changes.body = std::move(edited).value();
  return std::nullopt;
}

}  // namespace sluice::filters
