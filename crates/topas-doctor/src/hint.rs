//! What mends a reason, with the command or setting that does it.

use topas_format::event::Why;

/// The remedy for a reason; None where there is none on this node.
pub fn remedy(why: Why) -> Option<&'static str> {
    Some(match why {
        Why::Cpu => {
            "the event table has no row for this processor; what the kernel's generic events tell \
             is counted, and a later version may know it"
        }
        Why::Event => return None,
        Why::Pmu => {
            "count on bare metal, or give the virtual machine counters (QEMU/KVM: -cpu host,pmu=on)"
        }
        Why::Paranoid => {
            "sysctl -w kernel.perf_event_paranoid=2 (to keep it: a file in /etc/sysctl.d)"
        }
        Why::Seccomp => {
            "let the container's seccomp profile allow perf_event_open (docker, podman: \
             --security-opt seccomp=PROFILE)"
        }
        Why::Kernel => "boot a kernel built with CONFIG_PERF_EVENTS",
        Why::Files => "raise the limit of open files: ulimit -n 1024",
        Why::Refused => "perf stat -e EVENT true, with the event shown, tells more",
        Why::Shared => "end the tool that holds the counters, or sysctl -w kernel.nmi_watchdog=0",
        // A reason of programs, never of the doctor's own events.
        Why::Lost | Why::Used => return None,
    })
}
