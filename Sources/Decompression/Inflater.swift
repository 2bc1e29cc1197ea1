import CZlib

/// A decoder of compressed data, which zlib compares with the checksum behind them and, in the gzip format, with their
/// length.
///
/// libarchive reads gzip, too, but skips both.
///
/// A class, because it owns a C object that must be freed exactly once.
package final class Inflater {
    /// The format of the data.
    package enum Format: Sendable {
        /// The gzip format (RFC 1952): one or more members, and zeros behind the last one.
        case gzip
        /// The zlib format (RFC 1950).
        case zlib
    }

    /// The defect of the data.
    package struct Failure: Error, Hashable, Sendable {
        /// What is wrong with the compressed data.
        package var reason: String
        /// Whether the end of the data is missing.
        package var isCutOff = false
    }

    /// The parts of the data.
    private enum Part {
        case member
        /// Behind a member, where another one may begin.
        case end
        case zeros
    }

    /// The number of compressed bytes, and of decompressed ones, that are held at once.
    package static let chunkSize = 1 << 16
    /// The first bytes of data in the gzip format.
    package static let gzipStart: [UInt8] = [0x1F, 0x8B]

    private let format: Format
    private var part = Part.member
    // zlib refers to the structure by its address, which must not change.
    private let stream: UnsafeMutablePointer<z_stream>
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkSize, alignment: 1)
    private let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: chunkSize)

    /// Creates a decoder; nil if memory is short.
    package init?(_ format: Format) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard czlib_begin(stream, format == .gzip ? 1 : 0) == Z_OK else { return nil }
    }

    deinit {
        _ = inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
        output.deallocate()
    }

    /// Passes on the next compressed bytes, after `read` has returned false.
    ///
    /// - Parameter fill: writes at most `chunkSize` bytes into a buffer, and returns their number.
    package func fill<Failed: Error>(
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failed) -> Int
    ) throws(Failed) -> Int {
        let count = try fill(input)
        stream.pointee.next_in = UnsafePointer(input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(count)
        return count
    }

    /// The number of compressed bytes that `read` has not used yet.
    package var unread: Int { Int(stream.pointee.avail_in) }

    /// Appends the next decompressed bytes, at most `chunkSize`; returns false if it needs more compressed ones.
    package func read(into bytes: inout [UInt8]) throws(Failure) -> Bool {
        while true {
            switch part {
            case .member:
                let count = try inflateMember(into: &bytes)
                if count > 0 { return true }
                if part == .member, unread == 0 { return false }
            case .end:
                guard unread > 0 else { return false }
                let isMember = format == .gzip && stream.pointee.next_in.pointee == Self.gzipStart[0]
                part = isMember ? .member : .zeros
                if isMember { _ = inflateReset(stream) }
            case .zeros:
                let rest = UnsafeBufferPointer(start: stream.pointee.next_in, count: unread)
                guard rest.allSatisfy({ $0 == 0 }) else {
                    throw Failure(reason: "other bytes follow the compressed data")
                }
                stream.pointee.avail_in = 0
                return false
            }
        }
    }

    /// Ends the data; throws if they are incomplete.
    package func finish() throws(Failure) {
        if part == .member { throw Failure(reason: "the end of the compressed data is missing", isCutOff: true) }
    }

    /// Appends bytes of a member, and returns their number.
    private func inflateMember(into bytes: inout [UInt8]) throws(Failure) -> Int {
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let status = inflate(stream, Z_NO_FLUSH)
        let count = output.count - Int(stream.pointee.avail_out)
        bytes += output[..<count]
        switch status {
        // Without an error, there are no more compressed bytes, or there is no more space for others.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: part = .end
        case Z_MEM_ERROR: throw Failure(reason: "out of memory")
        default: throw Failure(reason: defect)
        }
        return count
    }

    /// The reason of zlib in words of this package.
    private var defect: String {
        switch stream.pointee.msg.map({ String(cString: $0) }) {
        case "incorrect data check": "the checksum of the compressed data is wrong"
        case "incorrect length check": "the length of the compressed data is wrong"
        case let reason: "the compressed data is damaged: \(reason ?? "unknown reason")"
        }
    }
}

extension Inflater {
    /// Returns the content of compressed data; nil if it is longer than the limit.
    package static func content(of data: [UInt8], _ format: Format, limit: Int) throws(Failure) -> [UInt8]? {
        guard let inflater = Inflater(format) else { throw Failure(reason: "out of memory") }
        var rest = data[...]
        var content: [UInt8] = []
        while content.count <= limit {
            if try inflater.read(into: &content) { continue }
            guard !rest.isEmpty else {
                try inflater.finish()
                return content
            }
            rest = rest.dropFirst(
                inflater.fill { buffer in
                    buffer.copyBytes(from: rest.prefix(buffer.count))
                    return min(rest.count, buffer.count)
                })
        }
        return nil
    }
}
