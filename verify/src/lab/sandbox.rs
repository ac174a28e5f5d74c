//! What a child may do: no network beside loopback, files of a bounded size, no core files, no new privileges. Linux
//! gives all of it to an ordinary user; where its kernel refuses the network part, and on other systems, a run goes on
//! without and says so.
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

#[cfg(target_os = "linux")]
pub(crate) use linux::{drop_network, keep_orphans, restrict};

#[cfg(target_os = "linux")]
mod linux {
    use super::Network;
    use nix::sched::CloneFlags;
    use nix::sys::resource::{Resource, setrlimit};
    use nix::sys::signal::Signal;
    use nix::sys::socket::{
        AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
    };
    use std::io::{Error, Result};
    use std::os::fd::AsRawFd;

    /// Orphans among the descendants become children of this process, which can then end them.
    pub fn keep_orphans() -> Result<()> {
        Ok(nix::sys::prctl::set_child_subreaper(true)?)
    }

    /// Restricts this process before it becomes the program: it ends with its parent, writes no file beyond so many
    /// bytes, leaves no core file and gains no privileges.
    pub fn restrict(file_bytes: u64) -> Result<()> {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        setrlimit(Resource::RLIMIT_FSIZE, file_bytes, file_bytes)?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        Ok(nix::sys::prctl::set_no_new_privs()?)
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
pub(crate) fn restrict(file_bytes: u64) -> std::io::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    setrlimit(Resource::RLIMIT_FSIZE, file_bytes, file_bytes)?;
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
