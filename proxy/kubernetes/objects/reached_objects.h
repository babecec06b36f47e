// Finds the objects of a cluster that may matter to some of its Gateways. A process that serves one Gateway follows
// kinds as a whole; it should neither read the Secrets of objects that it does not need nor report on these objects.
//
// An object is left out only if nothing can lead to it: its namespace is that of no Gateway and no route, and no object
// that stays has a word that is the name of the namespace; or it is a Backend, and no object that stays has a word that
// is its name. A word is any text that may be a name, anywhere in the object. So all objects that may matter are kept,
// and some more.
//
// Pure functions; any thread.
#pragma once

#include "config/load/object_set.h"

namespace sluice::kubernetes {

/// `set` has the Gateways that are served and their routes, and no others.
config::ObjectSet reachedObjects(const config::ObjectSet& set);

}  // namespace sluice::kubernetes
