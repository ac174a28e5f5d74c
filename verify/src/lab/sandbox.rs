//! What a child may do: no network beside loopback, files of a bounded size, no core files, no new privileges, no look
//! into processes outside, whose environment may hold tokens. Linux gives all of it to an ordinary user; where its kernel
//! refuses the network or the last, and on other systems, a run goes on without and says so.
//!
//! Three things hide processes outside, each enough by itself, since not every system has every one: a user namespace
//! (a process cannot look into those of the namespace above), Landlock, and for root fewer capabilities than any process
//! outside has.
//!
//! This is a fence, not a prison: the child runs as the user and reads what the user can read.

/// How the network is taken from a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Network {
    /// It is not.
    Kept,
    /// A new network namespace inside a new user namespace.
    User,
    /// A new network namespace alone, which takes privileges that a container's root may have without being allowed
    /// the other way.
    Privileged,
}

impl Network {
    /// The way as a word of a command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::User => "user",
            Self::Privileged => "privileged",
        }
    }

    /// The reverse of [`Network::word`].
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Kept, Self::User, Self::Privileged].into_iter().find(|network| network.word() == word)
    }
}

/// What a process keeps of its rights when it becomes a program.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Rights {
    /// Bytes of the largest file that it may write.
    pub file_bytes: u64,
    /// Processes and threads that it may start.
    pub processes: usize,
}

impl Default for Rights {
    fn default() -> Self {
        Self { file_bytes: 1 << 30, processes: 1000 }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{drop_network, keep_orphans, reads_ancestors, restrict};

/// The process that started another, by `/proc`.
#[cfg(unix)]
pub(crate) fn parent_of(process: i32) -> Option<i32> {
    // `pid (name) state parent …`, where the name may hold anything: proc_pid_stat(5).
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Network, Rights};
    use landlock::{AccessFs, CompatLevel, Compatible, RulesetAttr, RulesetCreatedAttr};
    use nix::sched::CloneFlags;
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    use nix::sys::signal::Signal;
    use nix::sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
    };
    use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
    use std::io::{Error, Read, Result};
    use std::os::fd::AsRawFd;

    /// Orphans among the descendants become children of this process, which can then end them.
    pub fn keep_orphans() -> Result<()> {
        Ok(nix::sys::prctl::set_child_subreaper(true)?)
    }

    /// A CUDA program, its libraries and the watcher have some hundred threads; beyond that a program only multiplies.
    const THREADS: u64 = 8;

    /// Restricts this process before it becomes the program: it ends with its parent, writes no file beyond so many
    /// bytes, leaves no core file, gains no privileges, starts only so many threads and looks into no process outside.
    pub fn restrict(rights: &Rights) -> Result<()> {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        setrlimit(Resource::RLIMIT_FSIZE, rights.file_bytes, rights.file_bytes)?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        // The kernel counts all threads of the user, root's apart, which are at most those that there are now, and these.
        let threads = threads() + rights.processes as u64 * THREADS;
        let (soft, hard) = getrlimit(Resource::RLIMIT_NPROC)?;
        setrlimit(Resource::RLIMIT_NPROC, soft.min(threads), hard.min(threads))?;
        // When the machine has no memory left this program goes, and not the user's other ones.
        drop(std::fs::write("/proc/self/oom_score_adj", "1000"));
        nix::sys::prctl::set_no_new_privs()?;
        // Whether it could be had is seen by trying (`reads_ancestors`).
        drop(enter_domain());
        drop_capabilities()
    }

    /// Threads of the whole system: the fourth word of `/proc/loadavg`, behind the slash.
    fn threads() -> u64 {
        let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let all = text.split_whitespace().nth(3).and_then(|word| word.split_once('/')?.1.parse().ok());
        all.unwrap_or(1 << 16)
    }

    /// A Landlock domain: what is in it neither looks into processes outside, nor sends them signals where the kernel
    /// knows how to forbid that. A domain must forbid something in files, too: here, making block devices. Moving a
    /// file to another folder is forbidden in each domain that does not allow it.
    fn enter_domain() -> std::result::Result<(), landlock::RulesetError> {
        let access = AccessFs::MakeBlock | AccessFs::Refer;
        let everywhere = landlock::PathFd::new("/").map(|root| landlock::PathBeneath::new(root, access));
        let Ok(everywhere) = everywhere else { return Ok(()) };
        let ruleset = landlock::Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(access)?
            .set_compatibility(CompatLevel::BestEffort)
            .scope(landlock::Scope::Signal)?;
        ruleset.create()?.add_rule(everywhere)?.restrict_self().map(drop)
    }

    /// Takes from root what only root can do. That root reads and writes the files of others stays, since a container's
    /// root may build what another user owns.
    fn drop_capabilities() -> Result<()> {
        let sets = capabilities(None)?;
        let kept = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        let (effective, permitted) = (sets.effective & kept, sets.permitted & kept);
        Ok(set_capabilities(None, CapabilitySets { effective, permitted, inheritable: CapabilitySet::empty() })?)
    }

    /// Whether this process can read the environment of one that it comes from.
    pub fn reads_ancestors() -> bool {
        let mut process = nix::unistd::getppid().as_raw();
        // No system has more processes above one; a number that comes back would be a circle.
        for _ in 0..1000 {
            let mut byte = [0];
            let environment = std::fs::File::open(format!("/proc/{process}/environ"));
            if environment.and_then(|mut file| file.read(&mut byte)).is_ok_and(|length| length > 0) {
                return true;
            }
            match super::parent_of(process) {
                Some(parent) if parent > 0 => process = parent,
                _ => break,
            }
        }
        false
    }

    /// Takes the network from this process and all that it starts, loopback aside. The process must have one thread.
    ///
    /// # Errors
    /// The kernel's refusal. After one, the process may be a user without rights, and should end.
    pub fn drop_network(network: Network) -> Result<()> {
        match network {
            Network::Kept => return Ok(()),
            Network::Privileged => nix::sched::unshare(CloneFlags::CLONE_NEWNET)?,
            Network::User => {
                let (user, group) = (nix::unistd::getuid(), nix::unistd::getgid());
                nix::sched::unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
                // A group may be mapped by an ordinary user only once the list of groups is frozen: user_namespaces(7).
                std::fs::write("/proc/self/setgroups", "deny")?;
                std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
                std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
            }
        }
        raise_loopback()
    }

    /// `RTM_NEWLINK` of rtnetlink(7).
    const NEW_LINK: u16 = 16;
    /// `NLM_F_REQUEST | NLM_F_ACK` of netlink(7).
    const REQUEST_WITH_ANSWER: u16 = 1 | 4;
    /// `NLMSG_ERROR` of netlink(7), which is also the kind of a good answer.
    const ANSWER: u16 = 2;
    /// `IFF_UP` of netdevice(7).
    const UP: u32 = 1;
    /// In each network namespace, loopback is the first interface.
    const LOOPBACK: i32 = 1;

    /// A new network namespace has a loopback interface that is down. Raised over netlink, which needs no `unsafe`.
    fn raise_loopback() -> Result<()> {
        let mut message = Vec::with_capacity(32);
        // struct nlmsghdr: length, type, flags, sequence, port.
        message.extend(32u32.to_ne_bytes());
        message.extend(NEW_LINK.to_ne_bytes());
        message.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
        message.extend(1u32.to_ne_bytes());
        message.extend(0u32.to_ne_bytes());
        // struct ifinfomsg: family, padding, type, index, flags, which flags change.
        message.extend([0u8, 0]);
        message.extend(0u16.to_ne_bytes());
        message.extend(LOOPBACK.to_ne_bytes());
        message.extend(UP.to_ne_bytes());
        message.extend(UP.to_ne_bytes());
        let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
        sendto(socket.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
        let mut answer = [0u8; 256];
        let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        match answer.get(..length.min(answer.len())) {
            Some([_, _, _, _, kind_low, kind_high, _, _, _, _, _, _, _, _, _, _, a, b, c, d, ..])
                if u16::from_ne_bytes([*kind_low, *kind_high]) == ANSWER =>
            {
                match i32::from_ne_bytes([*a, *b, *c, *d]) {
                    0 => Ok(()),
                    error => Err(Error::from_raw_os_error(-error)),
                }
            }
            _ => Err(Error::other("an answer of netlink that is none")),
        }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn restrict(rights: &Rights) -> std::io::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    setrlimit(Resource::RLIMIT_FSIZE, rights.file_bytes, rights.file_bytes)?;
    Ok(setrlimit(Resource::RLIMIT_CORE, 0, 0)?)
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn keep_orphans() -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn drop_network(network: Network) -> std::io::Result<()> {
    match network {
        Network::Kept => Ok(()),
        Network::User | Network::Privileged => Err(std::io::Error::other("only Linux can take the network away")),
    }
}

#[cfg(not(unix))]
pub(crate) fn restrict(_: &Rights) -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn reads_ancestors() -> bool {
    true
}
