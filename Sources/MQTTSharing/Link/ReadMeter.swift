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
/// libmosquitto doesn't report the size of the packet that it reads. The system counts the bytes of the socket,
/// including those of TLS. A connection that reads more than two packets of the largest size without a message is
/// reading a larger one.
struct ReadMeter {
    /// The bytes on top of two packets, for TLS and for packets that aren't messages.
    private static let allowance = 1 << 16
    /// The number of bytes per second allowed for answers to pings.
    private static let bytesPerSecond = 64.0

    private let limit: Int
    private var mark: (bytes: Int, at: ContinuousClock.Instant)?

    /// The largest packet in bytes.
    private let largestPacket: Int
    /// The position of the first packet whose header hasn't been seen; nil if it is unknown.
    private var nextPacket: Int? = 0

    init(largestPacket: Int) {
        self.largestPacket = largestPacket
        limit = 2 * largestPacket + Self.allowance
    }

    /// Returns whether a packet that is too large is waiting in the buffer of a connection without TLS.
    ///
    /// Reads the lengths of all packets in the buffer without removing them. libmosquitto may read a packet that
    /// arrives in the meantime; then the function no longer knows where packets begin, and only `isExceeded` detects
    /// packets that are too large.
    mutating func announcesTooMuch(on socket: Int32) -> Bool {
        guard let next = nextPacket, let read = Self.bytesRead(from: socket) else { return false }
        guard read <= next else {
            nextPacket = nil
            return false
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &bytes, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        var start = next - read
        while start < count {
            // Source: MQTT Version 3.1.1, OASIS 2014, 2.2.3: seven bits in each byte, the lowest first.
            var (length, shift, end) = (0, 0, start + 1)
            while end < count, bytes[end] >= 128, shift < 21 {
                length |= Int(bytes[end] & 127) << shift
                (shift, end) = (shift + 7, end + 1)
            }
            guard end < count else { break }
            length |= Int(bytes[end] & 127) << shift
            if length > largestPacket { return true }
            start = end + 1 + length
        }
        nextPacket = read + start
        return false
    }

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
    /// libmosquitto reads as long as the buffer has data, and doesn't return to the meter in between. A small buffer is
    /// soon empty.
    static func limitBuffer(of socket: Int32, largestPacket: Int) {
        var size = Int32(min(max(4 * largestPacket, 1 << 16), 1 << 20))
        // If the limit can't be set, the connection still works, but may read more of a packet that is too large.
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Returns the number of bytes that were read from a TCP socket so far; nil if the system doesn't report it.
    private static func bytesRead(from socket: Int32) -> Int? {
        // The offset of `tcpi_bytes_received` in `struct tcp_info` of <linux/tcp.h>, which glibc's structure lacks.
        let offset = 128
        var info = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(info.count)
        var waiting: Int32 = 0
        var last: UInt64?
        // Repeat until no data arrives between the two queries.
        for _ in 0..<100 {
            guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, length >= offset + 8 else {
                return nil
            }
            let received = info[offset..<offset + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if received == last { break }
            last = received
            guard ioctl(socket, UInt(FIONREAD), &waiting) == 0 else { return nil }
        }
        return last.map { Int(clamping: $0) - Int(waiting) }
    }
}
