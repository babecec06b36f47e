"""What a Pod has for itself: a network with an address of its own, folders, and the processes of its container."""
import asyncio
import ctypes
import os
import subprocess

CLONE_NEWNET = 0x40000000
IMAGE_USER = 65532  # of Sluice's image
ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
LABELS = "metadata.labels['"  # as a fieldPath begins that names a label

# Arguments: the root's folder, whether it can be written ("rw" or "ro"), the program, user, group, further groups, and then pairs of a
# folder and its place in the container, "--", and the program's arguments. The machine's programs and libraries are there, and read-only;
# devices are its own, as a runtime makes them: nobody can say with which rights the machine has them.
START = r"""
set -eu
root=$1 writes=$2 program=$3 user=$4 group=$5 groups=$6
shift 6
echo "$HOSTNAME" > /proc/sys/kernel/hostname
mount -t tmpfs -o mode=755 container "$root"
for each in bin sbin lib lib32 lib64 libx32 usr etc; do
  if [ -L "/$each" ]; then cp -P "/$each" "$root/"
  elif [ -d "/$each" ]; then
    mkdir "$root/$each"
    mount --bind "/$each" "$root/$each"
    mount -o remount,bind,ro "$root/$each"
  fi
done
mkdir "$root/dev" "$root/proc" "$root/image"
mount -t tmpfs -o mode=755,nosuid,noexec devices "$root/dev"
while read -r name major minor; do mknod -m 666 "$root/dev/$name" c "$major" "$minor"; done <<DEVICES
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
DEVICES
ln -s /proc/self/fd "$root/dev/fd"
for each in 0=stdin 1=stdout 2=stderr; do ln -s "/proc/self/fd/${each%%=*}" "$root/dev/${each#*=}"; done
mount --bind /proc "$root/proc"
touch "$root/image/${program##*/}"
mount --bind "$program" "$root/image/${program##*/}"
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  shift 2
done
shift
mount -o "remount,$writes" "$root"
exec chroot "$root" /usr/bin/setpriv --reuid "$user" --regid "$group" --groups "$groups" --inh-caps=-all --bounding-set=-all \
  --no-new-privs --pdeathsig KILL -- "/image/${program##*/}" "$@"
"""


def run(argv, text=""):
    subprocess.run(argv, input=text, text=True, check=True, stdout=subprocess.DEVNULL)


class Network:
    """A network namespace without a name, which is there as long as this program holds it, at a bridge that is there before."""

    count = 0

    def __init__(self, bridge, address, gateway, sysctls):
        Network.count += 1
        self.link, self.address = f"pod{Network.count}", address
        self.fd = self.make(sysctls)
        self.path = f"/proc/{os.getpid()}/fd/{self.fd}"
        run(["ip", "-batch", "-"], f"link add {self.link} type veth peer name eth0 netns {self.path}\n"
                                   f"link set {self.link} master {bridge} up\n")
        run(["nsenter", f"--net={self.path}", "ip", "-batch", "-"],
            f"link set lo up\naddress add {address}/{gateway.network.prefixlen} dev eth0\nlink set eth0 up\nroute add default via {gateway.ip}\n")

    @staticmethod
    def make(sysctls):
        """Enters a new namespace with this thread alone, for as long as it takes to open it and to set what the Pod says."""
        libc = ctypes.CDLL(None, use_errno=True)
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            if libc.unshare(CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "unshare")
            for name, value in sysctls.items():
                with open("/proc/sys/" + name.replace(".", "/"), "w", encoding="ascii") as file:
                    file.write(value)
            return os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        finally:
            libc.setns(before, CLONE_NEWNET)
            os.close(before)

    def remove(self):
        run(["ip", "link", "delete", self.link])
        os.close(self.fd)


class Sandbox:
    """The folders of one Pod, below that of the whole program, and how its container is started."""

    def __init__(self, pod, folder, network):
        self.pod, self.network = pod, network
        self.container = pod["spec"]["containers"][0]
        self.folder = os.path.join(folder, pod["metadata"]["uid"])
        self.log = os.path.join(folder, pod["metadata"]["name"] + ".log")
        context = {**pod["spec"].get("securityContext", {}), **self.container.get("securityContext", {})}
        self.user, self.group = context.get("runAsUser", IMAGE_USER), context.get("runAsGroup", IMAGE_USER)
        self.volume_group = context.get("fsGroup", self.group)
        self.writes = "ro" if context.get("readOnlyRootFilesystem") else "rw"
        self.root, self.account = self.make("root"), self.make("account")
        self.volumes = {each["name"]: self.make_volume(each) for each in pod["spec"].get("volumes", [])}

    def make(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(path, mode=0o755)
        return path

    def make_volume(self, volume):
        if "emptyDir" not in volume:
            raise NotImplementedError(f"the volume {volume['name']} is no emptyDir")
        path = self.make("volumes", volume["name"])
        os.chown(path, 0, self.volume_group)
        os.chmod(path, 0o2777)
        return path

    def write_account(self, files):
        for name, text in files.items():
            path = os.path.join(self.account, name)
            with open(path + ".new", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(path + ".new", path)

    def environment(self, server):
        metadata = self.pod["metadata"]
        fields = {"metadata.name": metadata["name"], "metadata.namespace": metadata["namespace"], "metadata.uid": metadata["uid"],
                  "status.podIP": self.network.address, "spec.nodeName": self.pod["spec"]["nodeName"],
                  "spec.serviceAccountName": self.pod["spec"].get("serviceAccountName", "")}
        variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": metadata["name"],
                     "KUBERNETES_SERVICE_HOST": server.host, "KUBERNETES_SERVICE_PORT": str(server.port)}
        # The programs may be built with sanitizers, of whose options the test knows.
        variables.update((name, value) for name, value in os.environ.items() if name.endswith("SAN_OPTIONS"))
        for each in self.container.get("env", []):
            field = each.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            variables[each["name"]] = self.field(field, fields) if field else each.get("value", "")
        return variables

    def field(self, path, fields):
        if path.startswith(LABELS):
            return self.pod["metadata"].get("labels", {}).get(path[len(LABELS):-len("']")], "")
        return fields[path]

    async def start(self, program, server):
        """Starts the container's process, which ends with this program, and returns it."""
        if self.container.get("command"):
            raise NotImplementedError("a container has the entrypoint of its image")
        mounts = [self.account, ACCOUNT_FOLDER]
        for each in self.container.get("volumeMounts", []):
            mounts += [self.volumes[each["name"]], each["mountPath"]]
        argv = ["setpriv", "--pdeathsig", "KILL", "nsenter", f"--net={self.network.path}",
                "unshare", "--uts", "--mount", "--propagation", "private", "sh", "-c", START, "sh", self.root, self.writes, program,
                str(self.user), str(self.group), str(self.volume_group), *mounts, "--", *self.container.get("args", [])]
        with open(self.log, "ab") as log:
            return await asyncio.create_subprocess_exec(*argv, env=self.environment(server), cwd="/", stdin=subprocess.DEVNULL,
                                                        stdout=log, stderr=log)
