// PolicySettings are the settings that the policies of one kind give to a rule or to the rules of a listener. Each kind
// stores a value of its own type in it.
//
// The settings are compared with those of the last compilation. If they are equal, everything that was made from them
// is kept.
#pragma once

#include <memory>
#include <utility>

namespace sluice::compile {

class PolicySettings {
 public:
  virtual ~PolicySettings() = default;

  /// Returns true if both have equal settings. `other` is of the same kind, and both are for a rule or both for a
  /// listener.
  virtual bool equals(const PolicySettings& other) const = 0;
};

/// Null if no policy has settings.
using SharedSettings = std::shared_ptr<const PolicySettings>;

template <typename Value>
class TypedSettings final : public PolicySettings {
 public:
  explicit TypedSettings(Value value) : value_(std::move(value)) {}

  const Value& value() const { return value_; }
  bool equals(const PolicySettings& other) const override {
    return value_ == static_cast<const TypedSettings&>(other).value_;
  }

 private:
  const Value value_;
};

template <typename Value>
SharedSettings sharedSettings(Value value) {
  return std::make_shared<const TypedSettings<Value>>(std::move(value));
}

/// Returns the value of settings that sharedSettings() made with that type.
template <typename Value>
const Value& settingsAs(const PolicySettings& settings) {
  return static_cast<const TypedSettings<Value>&>(settings).value();
}

inline bool sameSettings(const SharedSettings& a, const SharedSettings& b) {
  return a == b || (a != nullptr && b != nullptr && a->equals(*b));
}

}  // namespace sluice::compile
