// What can be asked to read the configuration again: the Reloader, and in tests what counts the calls.
#pragma once

namespace sluice::control {

class Reloadable {
 public:
  /// Reads the configuration again. Returns at once. On the main thread, inside a Turn.
  virtual void reload() = 0;

 protected:
  ~Reloadable() = default;
};

}  // namespace sluice::control
