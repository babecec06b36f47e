#include "filters/qos_controller.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "filters/keyed_budgets.h"
#include "proxy/processing/field_edits.h"

namespace sluice::filters {
namespace {

using processing::Made;
using processing::Phase;
using processing::Use;
using processing::Verdict;

constexpr std::string_view kQosControllerSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "QoSController",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "requestsPerMinute": {"type": "integer", "minimum": 1, "maximum": 10000000},
    "burst": {"type": "integer", "minimum": 1, "maximum": 1000000},
    "concurrency": {"type": "integer", "minimum": 1, "maximum": 1000000},
    "key": {"enum": ["Backend", "Namespace", "Header"], "default": "Backend"},
    "header": {"type": "string", "minLength": 1, "maxLength": 256}
  },
  "anyOf": [{"required": ["requestsPerMinute"]}, {"required": ["concurrency"]}]
})";

/// The budgets of one use, which are kept when its numbers or its key are changed.
struct UseBudgets {
  RequestBudget ofOwner;
  KeyedBudgets keyed;
};

enum class Key : std::uint8_t { kOwner, kBackend, kNamespace, kHeader };

class QosController final : public processing::Processor {
 public:
  QosController(std::shared_ptr<const UseBudgets> budgets, const Allowance& allowance, Key key, std::string header)
      : budgets_(std::move(budgets)),
        allowance_(allowance),
        key_(key),
        header_(std::move(header)),
        salt_(std::hash<std::string_view>()(header_) + static_cast<std::uint64_t>(key)) {}

  Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    const KeyedBudgets::BudgetGrant taken = take(call, peer);
    if (taken.budget == nullptr) return refuse(taken.retryAfter);
    if (allowance_.concurrency > 0) {
      call.holds.add(call.arena, taken.budget,
                     [](const void* budget) { static_cast<const RequestBudget*>(budget)->giveBack(); });
    }
    return Verdict::goOn();
  }

 private:
  KeyedBudgets::BudgetGrant take(const processing::Call& call, const processing::Peer& peer) const {
    const base::MonotonicTime now = call.clock.now();
    if (key_ != Key::kOwner) return budgets_->keyed.take(hashOf(call, peer), allowance_, now);
    const auto refused = budgets_->ofOwner.take(allowance_, now);
    if (refused) return {nullptr, *refused};
    return {&budgets_->ofOwner, {}};
  }

  std::uint64_t hashOf(const processing::Call& call, const processing::Peer& peer) const {
    return std::hash<std::string_view>()(nameOf(call, peer)) + salt_;
  }

  std::string_view nameOf(const processing::Call& call, const processing::Peer& peer) const {
    switch (key_) {
      case Key::kOwner:
        break;
      case Key::kBackend:
        return call.place.backend;
      case Key::kNamespace:
        return peer.nameSpace;
      case Key::kHeader:
        if (const http::Field* field = call.request.headers.find(header_)) return field->value;
        break;
    }
    return {};
  }

  static Verdict refuse(std::chrono::seconds retryAfter) {
    return Verdict::reply({base::Error(base::ErrorType::kRateLimited, base::ErrorOrigin::kProcessor,
                                       "more requests than the gateway lets through"),
                           {{"retry-after", std::to_string(retryAfter.count())}}});
  }

  const std::shared_ptr<const UseBudgets> budgets_;
  const Allowance allowance_;
  const Key key_;
  const std::string header_;
  /// Hashed into every key, so that a use whose key is changed finds none of the budgets kept under the old key.
  const std::uint64_t salt_;
};

/// Reads an integer from 1 on into `number` if the member is there. Returns an error text, empty if there is no error.
std::string readNumber(const content::Value& config, std::string_view member, std::uint32_t most,
                       std::uint32_t& number) {
  const content::Value* value = config.find(member);
  if (value == nullptr) return {};
  const char* const end = value->text.data() + value->text.size();
  const auto read = std::from_chars(value->text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end && number >= 1 && number <= most) return {};
  return std::string(member) + ": is no integer from 1 to " + std::to_string(most);
}

base::Result<Allowance> readAllowance(const content::Value& config) {
  Allowance allowance;
  std::string fault = readNumber(config, "requestsPerMinute", Allowance::kMostPerMinute, allowance.perMinute);
  allowance.burst = std::clamp<std::uint32_t>(allowance.perMinute / 10, 1, Allowance::kMostBurst);
  if (fault.empty()) fault = readNumber(config, "burst", Allowance::kMostBurst, allowance.burst);
  if (fault.empty()) fault = readNumber(config, "concurrency", Allowance::kMostConcurrency, allowance.concurrency);
  if (fault.empty() && allowance.perMinute == 0 && allowance.concurrency == 0) {
    fault = "requestsPerMinute or concurrency is required";
  }
  if (!fault.empty()) return base::Error::config(std::move(fault));
  return allowance;
}

Key keyOf(const Use& use) {
  const content::Value* key = use.config.find("key");
  if (key != nullptr && key->text == "Namespace") return Key::kNamespace;
  if (key != nullptr && key->text == "Header") return Key::kHeader;
  // A Backend's own use serves no other Backend, so its budget needs no look-up by Backend.
  return use.owner.starts_with("Backend ") ? Key::kOwner : Key::kBackend;
}

Made makeQosController(const Use& use) {
  const auto invalid = [](std::string message) { return Made{nullptr, {"InvalidConfig", std::move(message)}}; };
  const auto allowance = readAllowance(use.config);
  if (!allowance) return invalid(allowance.error().detail);
  const Key key = keyOf(use);
  const content::Value* header = use.config.find("header");
  if ((key == Key::kHeader) != (header != nullptr)) return invalid("header: belongs to key Header, which needs it");
  std::string field;
  if (header != nullptr) {
    auto name = processing::editableField(header->text);
    if (!name) return invalid("header: " + name.error().detail);
    field = std::move(name).value();
  }
  auto budgets = use.states.get<UseBudgets>(std::string(use.owner) + ": " + std::string(use.name),
                                            [] { return std::make_shared<const UseBudgets>(); });
  return {std::make_shared<const QosController>(std::move(budgets), *allowance, key, std::move(field)), {}};
}

}  // namespace

processing::BuiltinType qosController() {
  return {"gateway.networking.k8s.io/QoSController:v1",
          {Phase::kRequestHeaders, Phase::kConnect, Phase::kBackendRequest},
          false,
          kQosControllerSchema,
          makeQosController};
}

}  // namespace sluice::filters
