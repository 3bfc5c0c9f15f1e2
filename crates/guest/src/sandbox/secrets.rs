//! Where secrets are known to lie: there is nothing at these places inside, whoever runs it.
//!
//! A list can only name what is known. A key in a folder that nobody else uses for keys is as visible as any file that
//! the caller can read; docs/explanation/sandbox.md says so.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Below each home: keys, tokens, passwords, and what was typed or said.
#[rustfmt::skip]
const HOMES: &[&str] = &[
    // Keys and passwords.
    ".ssh", ".gnupg", ".pki", ".step", ".password-store", ".local/share/keyrings", ".local/share/kwalletd",
    ".vault-token", ".netrc", ".authinfo", ".authinfo.gpg", ".rhosts", ".shosts", ".vnc", ".Xauthority",
    ".ICEauthority", ".config/sops", ".config/age", ".config/op", ".config/Bitwarden", ".config/Bitwarden CLI",
    ".config/keepassxc", ".bitcoin", ".ethereum", ".electrum", ".subversion/auth",
    // Clouds, containers and the places where code is kept.
    ".aws", ".azure", ".config/gcloud", ".config/doctl", ".config/hcloud", ".config/heroku", ".config/rclone",
    ".boto", ".s3cfg", ".oci", ".fly", ".terraform.d", ".terraformrc", ".kube", ".minikube", ".docker",
    ".config/containers", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub",
    ".config/glab-cli", ".config/tea",
    // Package indexes.
    ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".pip", ".config/pip", ".config/pypoetry", ".cargo/credentials",
    ".cargo/credentials.toml", ".gem/credentials", ".bundle/config", ".m2/settings.xml", ".m2/settings-security.xml",
    ".gradle/gradle.properties", ".config/NuGet", ".nuget/NuGet",
    // Models and assistants.
    ".claude/.credentials.json", ".claude/history.jsonl", ".claude.json", ".codex/auth.json", ".config/openai",
    ".config/anthropic", ".gemini/oauth_creds.json", ".huggingface", ".cache/huggingface/token", ".kaggle",
    ".config/wandb",
    // Data bases and mail.
    ".pgpass", ".my.cnf", ".mylogin.cnf", ".msmtprc", ".config/msmtp", ".fetchmailrc", ".offlineimaprc", ".mbsyncrc",
    ".muttrc", ".mutt", ".config/neomutt", "Maildir", "Mail", "mbox", ".thunderbird", ".config/evolution",
    ".local/share/evolution",
    // Browsers and messengers.
    ".mozilla", ".config/mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
    ".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".config/Signal", ".config/Slack",
    ".config/discord", ".config/Element", ".local/share/TelegramDesktop", ".purple", ".irssi", ".weechat",
    ".config/weechat", "snap", ".var/app",
    // What was typed.
    ".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".ash_history", ".history",
    ".local/share/fish", ".local/state/bash", ".local/state/zsh", ".python_history", ".node_repl_history",
    ".psql_history", ".mysql_history", ".mariadb_history", ".sqlite_history", ".rediscli_history", ".mongorc.js",
    ".mongodb", ".irb_history", ".gdb_history", ".Rhistory", ".lesshst", ".viminfo", ".local/state/nvim", ".ipython",
    ".local/share/recently-used.xbel",
];

/// Of the machine.
#[rustfmt::skip]
const MACHINE: &[&str] = &[
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/security/opasswd", "/etc/sudoers",
    "/etc/sudoers.d", "/etc/doas.conf", "/etc/ssh", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/private",
    "/etc/letsencrypt", "/etc/krb5.keytab", "/etc/wireguard", "/etc/openvpn", "/etc/ipsec.secrets", "/etc/ipsec.d",
    "/etc/swanctl", "/etc/tinc", "/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/netplan",
    "/etc/ppp", "/etc/credstore", "/etc/credstore.encrypted", "/etc/cryptsetup-keys.d", "/etc/luks", "/etc/docker",
    "/etc/kubernetes", "/etc/rancher", "/etc/etcd", "/etc/vault.d", "/etc/salt/pki", "/etc/puppetlabs",
    "/etc/apt/auth.conf", "/etc/apt/auth.conf.d", "/etc/mysql/debian.cnf", "/etc/postfix/sasl_passwd",
    "/etc/postfix/sasl_passwd.db", "/etc/exim4/passwd.client", "/etc/msmtprc", "/etc/chrony/chrony.keys",
    "/etc/bind/rndc.key", "/etc/rndc.key", "/etc/cups/ssl", "/etc/samba/private", "/etc/grub.d/40_custom",
    "/boot/grub/user.cfg", "/boot/grub2/user.cfg", "/etc/gitlab", "/etc/gitlab-runner", "/var/run", "/var/backups",
    "/var/mail", "/var/crash", "/var/kerberos", "/var/spool/mail", "/var/spool/cron", "/var/spool/at",
    "/var/spool/cups", "/var/spool/postfix", "/var/log/audit", "/var/log/journal", "/var/log/private",
    "/var/cache/debconf/passwords.dat", "/var/cache/private", "/var/lib/private",
    "/var/lib/systemd/credential.secret", "/var/lib/systemd/random-seed", "/var/lib/systemd/coredump",
    "/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet", "/var/lib/rancher",
    "/var/lib/etcd", "/var/lib/lxc", "/var/lib/lxd", "/var/lib/incus", "/var/lib/libvirt", "/var/lib/mysql",
    "/var/lib/postgresql", "/var/lib/mongodb", "/var/lib/redis", "/var/lib/ldap", "/var/lib/samba", "/var/lib/sss",
    "/var/lib/krb5kdc", "/var/lib/NetworkManager", "/var/lib/iwd", "/var/lib/bluetooth", "/var/lib/fprint",
    "/var/lib/AccountsService", "/var/lib/tailscale", "/var/lib/zerotier-one", "/var/lib/caddy", "/var/lib/acme",
    "/var/lib/cloud", "/var/lib/waagent", "/var/lib/jenkins/secrets", "/var/lib/jenkins/credentials.xml", "/var/lib/vault",
];

/// All that there is of it on this machine: absolute paths without links, each once.
pub(super) fn here() -> BTreeSet<PathBuf> {
    let machine = MACHINE.iter().map(PathBuf::from);
    let homes = homes();
    let personal = homes
        .iter()
        .flat_map(|home| HOMES.iter().map(move |name| home.join(name)));
    machine
        .chain(personal)
        // A link is followed: what it leads to is the secret.
        .filter_map(|path| fs::canonicalize(path).ok())
        .filter(|path| !matches!(path.to_str(), Some("/" | "/dev/null")))
        .collect()
}

/// The homes of everybody on this machine.
fn homes() -> BTreeSet<PathBuf> {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_users = users.lines().filter_map(|line| line.split(':').nth(5));
    let below_home = fs::read_dir("/home").into_iter().flatten().flatten();
    of_users
        .map(PathBuf::from)
        .chain(below_home.map(|entry| entry.path()))
        .chain(env::var_os("HOME").map(PathBuf::from))
        .chain([PathBuf::from("/root")])
        .filter(|home| home.is_absolute() && home != Path::new("/") && home.is_dir())
        .filter_map(|home| fs::canonicalize(home).ok())
        .collect()
}
