#include "proxy/control/text_source.h"

namespace sluice::control {

config::ObjectSet TextSource::read(const base::Secret& key) {
  config::TextCache none;
  return config::readTexts({text_}, {}, key, none);
}

}  // namespace sluice::control
