import Glibc

/// A version of MQTT.
package enum MQTTVersion: Hashable, Sendable {
    /// Version 3.1.1.
    case three
    /// Version 5, in which a client states the largest packet that it accepts.
    case five
}

/// A meter of the bytes that a connection reads between two messages.
///
/// libmosquitto doesn't tell the size of the packet that it reads. The system counts the bytes of the socket, also those
/// of TLS. A connection that reads more than two packets of the largest size without a message is reading a larger one.
struct ReadMeter {
    /// The bytes on top of two packets, for TLS and for packets that aren't messages.
    private static let allowance = 1 << 16
    /// The bytes that answers to pings may have in each second.
    private static let bytesPerSecond = 64.0

    private let limit: Int
    private var mark: (bytes: Int, at: ContinuousClock.Instant)?

    init(largestPacket: Int) { limit = 2 * largestPacket + Self.allowance }

    /// Returns whether the connection is reading a packet that is too large.
    ///
    /// - Parameter hasArrival: Whether a message or an answer arrived since the last call.
    mutating func isExceeded(of socket: Int32, hasArrival: Bool, at now: ContinuousClock.Instant) -> Bool {
        guard let bytes = Self.bytesRead(from: socket) else { return false }
        guard let mark, !hasArrival else {
            self.mark = (bytes, now)
            return false
        }
        let seconds = Double(mark.at.duration(to: now).components.seconds)
        return Double(bytes - mark.bytes) > Double(limit) + Self.bytesPerSecond * seconds
    }

    /// Limits the data that the system buffers for a socket.
    ///
    /// libmosquitto reads for as long as data waits, without returning to the meter. With a small buffer it soon waits
    /// for the sender.
    static func limitBuffer(of socket: Int32, largestPacket: Int) {
        var size = Int32(min(max(4 * largestPacket, 1 << 16), 1 << 20))
        // Without the limit, the connection works as well, but may read more of a packet that is too large.
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns the number of bytes that were read from a TCP socket so far; nil if the system doesn't tell.
    private static func bytesRead(from socket: Int32) -> Int? {
        // The offset of `tcpi_bytes_received` in `struct tcp_info` of <linux/tcp.h>, which glibc's structure lacks.
        let offset = 128
        var info = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(info.count)
        var waiting: Int32 = 0
        guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, length >= offset + 8,
            ioctl(socket, UInt(FIONREAD), &waiting) == 0
        else { return nil }
        let received = info[offset..<offset + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(clamping: received) - Int(waiting)
    }
}
