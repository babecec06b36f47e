#include "filters/qos_controller.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "filters/keyed_budgets.h"
#include "filters/qos_settings.h"

namespace sluice::filters {
namespace {

using processing::Made;
using processing::Phase;
using processing::Use;
using processing::Verdict;

/// The budgets of one use, which are kept when its numbers or its key are changed.
struct UseBudgets {
  RequestBudget ofOwner;
  KeyedBudgets keyed;
};

/// The budget of a key that has an override. No other key shares it, because it is found by the text of the key.
struct OverriddenBudget {
  Allowance allowance;
  std::shared_ptr<const RequestBudget> budget;
};
using OverriddenBudgets = std::map<std::string, OverriddenBudget, std::less<>>;

class QosController final : public processing::Processor {
 public:
  QosController(std::shared_ptr<const UseBudgets> budgets, const QosSettings& settings, OverriddenBudgets overridden)
      : budgets_(std::move(budgets)),
        overridden_(std::move(overridden)),
        allowance_(settings.allowance),
        key_(settings.key),
        header_(settings.header),
        salt_(std::hash<std::string_view>()(header_) + static_cast<std::uint64_t>(key_)) {}

  Verdict process(processing::Call& call, const processing::Peer& peer) const override {
    const std::string_view name = nameOf(call, peer);
    const auto found = overridden_.find(name);
    const bool isOverridden = found != overridden_.end();
    const Allowance& allowance = isOverridden ? found->second.allowance : allowance_;
    const KeyedBudgets::BudgetGrant taken =
        isOverridden ? takeFrom(*found->second.budget, allowance, call) : takeUsual(name, call);
    if (taken.budget == nullptr) return refuse(taken.retryAfter);
    if (allowance.concurrency > 0) {
      call.holds.add(call.arena, taken.budget,
                     [](const void* budget) { static_cast<const RequestBudget*>(budget)->giveBack(); });
    }
    return Verdict::goOn();
  }

 private:
  static KeyedBudgets::BudgetGrant takeFrom(const RequestBudget& budget, const Allowance& allowance,
                                            const processing::Call& call) {
    const auto refused = budget.take(allowance, call.clock.now());
    if (refused) return {nullptr, *refused};
    return {&budget, {}};
  }
  KeyedBudgets::BudgetGrant takeUsual(std::string_view name, const processing::Call& call) const {
    if (key_ == QosKey::kOwner) return takeFrom(budgets_->ofOwner, allowance_, call);
    return budgets_->keyed.take(std::hash<std::string_view>()(name) + salt_, allowance_, call.clock.now());
  }

  /// Returns the text of the key; empty for clients that have none.
  std::string_view nameOf(const processing::Call& call, const processing::Peer& peer) const {
    switch (key_) {
      case QosKey::kOwner:
      case QosKey::kBackend:
        return call.place.backend;
      case QosKey::kNamespace:
        return peer.nameSpace;
      case QosKey::kServiceAccount:
        if (peer.serviceAccount.empty()) break;
        return call.arena.concat(peer.nameSpace, "/", peer.serviceAccount);
      case QosKey::kPrincipal:
        return peer.principal;
      case QosKey::kHeader:
        if (const http::Field* field = call.request.headers.find(header_)) return field->value;
        break;
    }
    return {};
  }

  static Verdict refuse(std::chrono::seconds retryAfter) {
    return Verdict::reply({base::Error(base::ErrorType::kRateLimited, base::ErrorOrigin::kProcessor,
                                       "more requests than the QoSController lets through")
                               .ofLimit("qosController"),
                           {{"retry-after", std::to_string(retryAfter.count())}}});
  }

  const std::shared_ptr<const UseBudgets> budgets_;
  const OverriddenBudgets overridden_;
  const Allowance allowance_;
  const QosKey key_;
  const std::string header_;
  /// Hashed into every key, so that a use whose key is changed finds none of the budgets kept under the old key.
  const std::uint64_t salt_;
};

Made makeQosController(const Use& use) {
  auto settings = readQosSettings(use.config, use.owner.starts_with("Backend "));
  if (!settings) return {nullptr, {"InvalidConfig", settings.error().detail}};
  const std::string name = std::string(use.owner) + ": " + std::string(use.name);
  auto budgets = use.states.get<UseBudgets>(name, [] { return std::make_shared<const UseBudgets>(); });
  // None of the parts but the last one can have a line break, so that two keys never have the same name.
  const std::string ofKey = name + "\n" + std::to_string(static_cast<int>(settings->key)) + settings->header + "\n";
  OverriddenBudgets overridden;
  for (const QosOverride& each : settings->overrides) {
    auto budget =
        use.states.get<RequestBudget>(ofKey + each.key, [] { return std::make_shared<const RequestBudget>(); });
    overridden.emplace(each.key, OverriddenBudget{each.allowance, std::move(budget)});
  }
  return {std::make_shared<const QosController>(std::move(budgets), *settings, std::move(overridden)), {}};
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
