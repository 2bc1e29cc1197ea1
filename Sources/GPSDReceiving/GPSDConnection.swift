import CGPS
import Glibc

/// A connection to gpsd, for use by a single thread.
struct GPSDConnection: ~Copyable {
    private let connection: OpaquePointer
    private let host: String
    private let port: UInt16

    /// Connects, which may block for as long as the network takes, and requests reports.
    init(host: String, port: UInt16) throws(GPSDError) {
        var number: Int32 = 0
        guard let connection = cgps_open(host, String(port), &number) else {
            if cgps_is_no_host(number) { throw .unknownHost(host) }
            if cgps_is_no_connection(number) { throw .unreachable(host: host, port: port) }
            throw .system(call: "gps_open", number: number)
        }
        Self.enableKeepAlive(cgps_descriptor(connection))
        guard cgps_watch(connection) == 0 else {
            let reason = GPSDError.text(ofSystemError: errno)
            cgps_close(connection)
            throw .connectionLost(host: host, port: port, reason: reason)
        }
        self.connection = connection
        self.host = host
        self.port = port
    }

    deinit { cgps_close(connection) }

    /// The descriptor to wait on for reports.
    var descriptor: Int32 { cgps_descriptor(connection) }

    /// Returns the next report without waiting; nil if there is none yet.
    func next() throws(GPSDError) -> cgps_report? {
        var report = cgps_report()
        switch cgps_read(connection, &report) {
        case 0: return nil
        case 1: return report
        default:
            let reason = errno == 0 ? nil : GPSDError.text(ofSystemError: errno)
            throw .connectionLost(host: host, port: port, reason: reason)
        }
    }

    /// The devices that the latest report lists, as gpsd names them: such as `/dev/ttyACM0` or `udp://0.0.0.0:5000`.
    func devices(of report: cgps_report) -> [String] {
        (0..<max(0, report.devices)).compactMap { index in cgps_device(connection, index).map { String(cString: $0) } }
    }

    /// Enables TCP keep-alive, so that the kernel detects the loss of the other host: after 30 s of silence, it sends
    /// three probes.
    private static func enableKeepAlive(_ descriptor: Int32) {
        let options = [
            (Int32(SOL_SOCKET), SO_KEEPALIVE, 1), (Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30),
            (Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10), (Int32(IPPROTO_TCP), TCP_KEEPCNT, 3),
        ]
        for (level, name, value) in options {
            var value = Int32(value)
            setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}
