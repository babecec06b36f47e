#include "proxy/server/loader.h"

#include <malloc.h>

#include <random>
#include <utility>

namespace sluice::server {
namespace {

// As long as the digest that it guards.
base::Secret newRevisionKey() {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < 32) bytes += static_cast<char>(random() & 0xff);
  return base::Secret(std::move(bytes));
}

/// Names what the metrics of routes, Backends and Gateways may be about.
std::unordered_set<std::string> objectsOf(const control::Configuration& configuration) {
  std::unordered_set<std::string> objects;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    objects.insert(object.nameSpace + "/" + object.name);
  }
  for (const auto& backend : configuration.compiled.snapshot->backends) objects.insert(backend->name);
  return objects;
}

}  // namespace

Loader::Loader(const std::vector<std::string>& paths, const processing::BuiltinTypes& processors, observe::Log& log,
               net::Worker& main)
    : paths_(paths), processors_(processors), log_(log), main_(main), revisionKey_(newRevisionKey()), thread_([this] {
        run();
      }) {}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Loader::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Loader::run() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (ending_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

void Loader::load(const control::Configuration& served, std::shared_ptr<const Generation> generation, Done done) {
  post([this, &served, generation = std::move(generation), done = std::move(done)] {
    // The message must be copyable, so it holds the result by a pointer.
    const auto loaded = std::make_shared<Loaded>(loadNow(served, generation.get()));
    main_.post([loaded, done] { done(std::move(*loaded)); });
  });
}

void Loader::discard(control::Configuration&& configuration, std::shared_ptr<const Generation>&& generation) {
  struct Old {
    control::Configuration configuration;
    std::shared_ptr<const Generation> generation;
  };
  post([old = std::make_shared<Old>(Old{std::move(configuration), std::move(generation)})]() mutable {
    old.reset();
    // What is gone now lies scattered among what stays, where free() alone leaves it to the process.
    malloc_trim(0);
  });
}

Loaded Loader::loadNow(const control::Configuration& served, const Generation* generation) {
  const bool first = generation == nullptr;
  Loaded loaded;
  control::Configuration& read = loaded.configuration;
  read = control::readConfiguration(paths_, revisionKey_, first ? nullptr : &served.model, processors_, memo_);
  loaded.unchanged = !first && read.readable && read.sameAs(served);
  if (loaded.unchanged) return loaded;
  report(read);
  if (!read.usable()) {
    loaded.refusal = "`sluice validate` says more";
    return loaded;
  }
  auto made = maker_.make(read.compiled.snapshot, read.revision, generation, objectsOf(read));
  if (made.ok()) {
    loaded.generation = std::move(*made);
  } else {
    loaded.refusal = made.error().detail;
  }
  return loaded;
}

void Loader::report(const control::Configuration& configuration) {
  for (const config::Problem& problem : configuration.problems) log_.error(config::render(problem));
  std::set<std::string> unhealthy;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    if (!config::isHealthy(object)) unhealthy.insert(config::objectStatusJson(object));
  }
  for (const std::string& status : unhealthy) {
    if (!reported_.contains(status)) log_.warn("object is not fully served", {{"status", status}});
  }
  reported_ = std::move(unhealthy);
}

}  // namespace sluice::server
