//! nginx on a host under test.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are in the guest's own memory, or in the shared folder, which nobody else sees"
)]

use std::fs;
use std::io::{IoSlice, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, Result};
use nix::errno::Errno;
use nix::sys::signal::{killpg, Signal};
use nix::unistd::{setpgid, Pid};
use rexmit_plan::{Cell, Http, Programs, Protocol};

use crate::net::{Host, Namespace};
use crate::spawn::{Child, Program};
use crate::{opener, priority, real_time};

/// A running nginx that serves one page and closes after each response.
pub struct Nginx {
    child: Child,
    folder: PathBuf,
    /// Where it listens.
    pub address: SocketAddr,
    /// What it proves its address with, where it speaks TLS.
    pub certificate: Option<PathBuf>,
}

/// The page's path.
pub const PAGE: &str = "/page.html";

impl Nginx {
    /// Starts nginx on `host`, with all its files in a fresh `folder`, and waits until it listens.
    ///
    /// Of Multipath TCP it knows nothing: it is given a socket that listens already, as it gives its sockets to its own
    /// successor when its program is upgraded (the variable NGINX). It then needs a process that does the work: alone it
    /// looks for the events of its predecessor (`ngx_event_process_init`, 1.22).
    pub fn start(programs: &Programs, host: &Host, folder: &Path, cell: &Cell) -> Result<Self> {
        let (program, protocol) = (programs.nginx()?, cell.protocol);
        let page = cell.workload.page();
        let http = page.map(|page| page.http).unwrap_or_default();
        fs::create_dir_all(folder.join("www"))?;
        let address = SocketAddr::new(host.address, cell.workload.port());
        let certificate = http.is_encrypted().then(|| folder.join("certificate.pem"));
        if let Some(certificate) = &certificate {
            certify(programs, host, folder, certificate)?;
        }
        let config = folder.join("nginx.conf");
        fs::write(&config, configuration(folder, address, protocol, page))?;
        let log = fs::File::create(folder.join("stderr"))?;
        let nothing = fs::File::open("/dev/null")?;
        let listener = match protocol {
            Protocol::Tcp => None,
            Protocol::Mptcp => Some(host.namespace.run(|| opener::listen(address, protocol))?),
        };
        let mut environment: Vec<_> = std::env::vars_os().collect();
        if !http.is_encrypted() {
            // What this machine sets for TLS is not looked for.
            environment.push(("OPENSSL_CONF".into(), "/dev/null".into()));
        }
        if let Some(listener) = &listener {
            listener.set_nonblocking(true)?;
            environment.push(("NGINX".into(), format!("{};", listener.as_raw_fd()).into()));
        }
        let mut command = Program::new(program, environment)?;
        for word in [
            "-p".as_ref(),
            folder,
            "-c".as_ref(),
            &config,
            "-e".as_ref(),
            "stderr".as_ref(),
        ] {
            command.argument(word)?;
        }
        let inherited = listener.as_ref().map(AsRawFd::as_raw_fd);
        let in_real_time = real_time::here();
        let files = [nothing.as_fd(), log.as_fd(), log.as_fd()];
        let child = host.namespace.run(|| {
            command.start(files, || {
                setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
                if let Some(descriptor) = inherited {
                    // Not closed by exec.
                    // SAFETY: a flag of a descriptor that is open.
                    Errno::result(unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) })?;
                }
                match priority::SERVER.take() {
                    // Real time in a user namespace: the order is the scheduler's.
                    Err(Errno::EPERM) if in_real_time => Ok(()),
                    taken => taken,
                }
            })
        })?;
        let mut server = Self {
            child,
            folder: folder.to_owned(),
            address,
            certificate,
        };
        server.wait_until_it_listens(&host.namespace)?;
        Ok(server)
    }

    fn wait_until_it_listens(&mut self, namespace: &Namespace) -> Result<()> {
        for _ in 0..500 {
            if namespace.run(|| Ok(TcpStream::connect(self.address).is_ok()))? {
                return Ok(());
            }
            if let Some(status) = self.child.ended()? {
                bail!("nginx ended at once ({status}): {}", self.said());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!("nginx does not listen on {}: {}", self.address, self.said());
    }

    /// Whether it serves still.
    ///
    /// # Errors
    /// When it, or the process that does its work, has ended: what failed then was not the transfer.
    pub fn must_serve(&mut self) -> Result<()> {
        let ended = self.child.ended()?;
        let said = self.said();
        match ended {
            Some(status) => bail!("nginx ended while it served ({status}): {said}"),
            None if said.contains("exited on signal") => bail!("nginx lost its worker: {said}"),
            None => Ok(()),
        }
    }

    /// Ends it; its address is free then.
    pub fn stop(&mut self) {
        let _ = killpg(self.child.pid(), Signal::SIGKILL);
        let _ = self.child.wait();
    }

    /// What nginx has written to its log.
    pub fn said(&self) -> String {
        fs::read_to_string(self.folder.join("stderr"))
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    /// Makes the page `bytes` long: lines of text, so that a browser has something to lay out.
    pub fn set_page(&self, bytes: usize) -> Result<()> {
        const LINE: &[u8] = b"The quick brown fox jumps over the lazy dog, and the tail of the page is yet to come.\n";
        // Of lines that are written again and again: each page of memory that is touched costs more than a system call.
        let lines = LINE.repeat(100);
        // Renamed into place: nginx must never see half a page.
        let (new, page_file) = (
            self.folder.join("www/page.new"),
            self.folder.join("www/page.html"),
        );
        let mut file = fs::File::create(&new)?;
        let mut written = 0;
        while written < bytes {
            let left = bytes - written;
            let whole = (left / lines.len()).min(64);
            let rest = if whole == 0 { &lines[..left] } else { &[] };
            let mut all = vec![IoSlice::new(&lines); whole];
            all.push(IoSlice::new(rest));
            written += file.write_vectored(&all)?;
        }
        fs::rename(new, page_file)?;
        Ok(())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Makes a key, and a certificate of the host's address that is valid from now on. Ed25519: no two differ in length
/// (RFC 8032 §5.1.5, §5.1.6), nor do the handshakes that they sign.
fn certify(programs: &Programs, host: &Host, folder: &Path, certificate: &Path) -> Result<()> {
    let program = programs.openssl()?;
    let name = format!("subjectAltName=IP:{}", host.address);
    let mut command = Program::new(program, std::env::vars_os())?;
    let (key, days) = (folder.join("key.pem"), ["-days", "10000"]);
    let words = ["req", "-x509", "-newkey", "ed25519", "-nodes", "-batch"];
    let rest = ["-set_serial", "1", "-subj", "/CN=h1", "-addext", &name];
    for word in words.into_iter().chain(days).chain(rest) {
        command.argument(word)?;
    }
    for word in [
        "-keyout".as_ref(),
        key.as_path(),
        "-out".as_ref(),
        certificate,
    ] {
        command.argument(word)?;
    }
    let (status, _, said) = command.output()?;
    if !status.success() {
        let said = String::from_utf8_lossy(&said);
        bail!("openssl makes no certificate ({status}): {said}");
    }
    Ok(())
}

/// One process that serves, no logs of requests; head and body leave in full segments unless the page says otherwise
/// (`tcp_nopush`), the connection is closed after each response, as it is for a client that speaks HTTP/1.0.
///
/// TLS is 1.3 alone, and its sessions are not resumed: a ticket's length differs from one connection to the next
/// (`ticket_age_add` of OpenSSL is a number without leading zeros).
fn configuration(
    folder: &Path,
    address: SocketAddr,
    protocol: Protocol,
    page: Option<&rexmit_plan::Page>,
) -> String {
    let folder = folder.display();
    let opening = match page {
        Some(page) if page.fast_open => " fastopen=16",
        _ => "",
    };
    let nopush = match page {
        Some(page) if !page.tcp_nopush => "off",
        _ => "on",
    };
    let http = page.map(|page| page.http).unwrap_or_default();
    let words = match http {
        Http::Plain => "",
        Http::Tls => " ssl",
        Http::Two => " ssl http2",
    };
    let tls = match http {
        Http::Plain => String::new(),
        Http::Tls | Http::Two => format!(
            "  ssl_certificate {folder}/certificate.pem;\n  ssl_certificate_key {folder}/key.pem;\n\
             \x20 ssl_protocols TLSv1.3;\n  ssl_session_tickets off;\n"
        ),
    };
    let processes = match protocol {
        Protocol::Tcp => "master_process off",
        Protocol::Mptcp => "worker_processes 1",
    };
    format!(
        "daemon off;\n{processes};\nuser root root;\npid {folder}/pid;\nerror_log stderr warn;\n\
         events {{ worker_connections 32; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush {nopush};\n  keepalive_timeout 0;\n  default_type text/html;\n\
         \x20 client_body_temp_path {folder}/body;\n  proxy_temp_path {folder}/proxy;\n  fastcgi_temp_path {folder}/fastcgi;\n\
         \x20 uwsgi_temp_path {folder}/uwsgi;\n  scgi_temp_path {folder}/scgi;\n\
         {tls}  server {{ listen {address}{words}{opening}; root {folder}/www; }}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(name: &str, script: &str, log: &str) -> Nginx {
        let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("stderr"), log).unwrap();
        let mut shell = Program::new(Path::new("/bin/sh"), []).unwrap();
        shell.argument("-c").unwrap();
        shell.argument(script).unwrap();
        let null = fs::File::open("/dev/null").unwrap();
        let own_group = || setpgid(Pid::from_raw(0), Pid::from_raw(0));
        Nginx {
            child: shell.start([null.as_fd(); 3], own_group).unwrap(),
            folder,
            address: "127.0.0.1:80".parse().unwrap(),
            certificate: None,
        }
    }

    #[test]
    fn a_server_that_ended_is_told_from_one_that_is_slow() {
        let said = |server: &mut Nginx| server.must_serve().unwrap_err().to_string();
        assert!(running("serving", "sleep 60", "").must_serve().is_ok());
        let worker = "[alert] 7#7: worker process 8 exited on signal 11";
        assert!(said(&mut running("lost-worker", "sleep 60", worker)).contains(worker));
        let mut killed = running("killed", "kill -SEGV $$", "");
        while killed.child.ended().unwrap().is_none() {}
        assert!(said(&mut killed).contains("while it served (signal: 11"));
    }
}
