// Interface of the Reloader for classes that ask it to read the configuration again. Tests count the calls.
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
