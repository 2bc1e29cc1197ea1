import CMosquitto
import Glibc
import SecretFiles

/// A connection to a broker, for use by a single thread.
///
/// libmosquitto calls back only from within the functions called here, on the same thread, because its own thread isn't
/// started. The callbacks collect their data in `arrivals`.
///
/// libmosquitto allocates a message before it reads it, and has no limit for its size. With MQTT 5, the broker drops
/// messages above the limit of the connection. With MQTT 3.1.1, or a broker that ignores the limit, the connection ends
/// while it reads such a message, see `ReadMeter`.
final class MQTTConnection {
    /// A message or an acknowledgement from the broker.
    enum Arrival {
        case accepted
        case subscribed(filter: String, isGranted: Bool)
        case message(MQTTMessage)
        /// The broker confirmed a message for which confirmation was requested.
        case confirmed
        /// The broker refused a message. With MQTT 3.1.1, it confirms such a message like any other.
        case refused(topic: String, reason: MQTTRefusal, isAwaited: Bool)
    }

    private let client: OpaquePointer
    private let broker: MQTTBroker
    private let version: MQTTVersion
    private let largestPacket: Int
    private var meter: ReadMeter
    private var arrivals: [Arrival] = []
    private var filters: [Int32: String] = [:]
    /// The topics of the messages that the broker hasn't confirmed yet, by the IDs of the messages.
    private var unconfirmed: [Int32: String] = [:]
    /// The IDs of the unconfirmed messages whose confirmation must be reported.
    private var awaited: Set<Int32> = []
    /// The broker's return code for the connection request; 0 accepts it, nil before the answer.
    private var verdict: Int32?
    /// The latest error that libmosquitto logged, which has more detail about TLS than its error codes.
    private var loggedError: String?

    /// Initializes libmosquitto once, at its first use, because the initialization isn't thread-safe.
    private static let isLibraryReady = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.code

    /// - Parameters:
    ///   - will: The message that the broker publishes if the connection breaks; nil for none.
    ///   - largestPacket: The largest packet that the broker may send, in bytes.
    init(
        _ broker: MQTTBroker, clientID: String, will: MQTTMessage?, _ version: MQTTVersion, largestPacket: Int
    ) throws(MQTTSharingError) {
        try broker.checkSecrecy()
        guard Self.isLibraryReady, let client = mosquitto_new(clientID, true, nil) else {
            throw .library(function: "mosquitto_new", reason: MQTTSharingError.text(ofSystemError: errno))
        }
        self.client = client
        self.broker = broker
        self.version = version
        self.largestPacket = largestPacket
        meter = ReadMeter(largestPacket: largestPacket)
        listen()
        mosquitto_int_option(
            client, MOSQ_OPT_PROTOCOL_VERSION, version == .five ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311)
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        if let credentials = broker.credentials {
            try check(
                mosquitto_username_pw_set(client, credentials.user, credentials.password), "mosquitto_username_pw_set")
        }
        if let security = broker.security { try secure(security) }
        guard let will else { return }
        let code = mosquitto_will_set(
            client, will.topic, Int32(will.payload.count), will.payload, will.quality.rawValue, will.isRetained)
        try check(code, "mosquitto_will_set")
    }

    deinit { mosquitto_destroy(client) }

    /// Connects to the broker, which may block for as long as the network takes. The broker's answer arrives later.
    func open(keepAliveSeconds: Int32) throws(MQTTSharingError) {
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if version == .five {
            let size = UInt32(clamping: largestPacket)
            try check(
                mosquitto_property_add_int32(&properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), size),
                "mosquitto_property_add_int32")
        }
        errno = 0
        let code = mosquitto_connect_bind_v5(
            client, broker.host, Int32(broker.port), keepAliveSeconds, nil, properties)
        let number = errno
        switch mosq_err_t(code) {
        case MOSQ_ERR_SUCCESS: ReadMeter.limitBuffer(of: mosquitto_socket(client), largestPacket: largestPacket)
        case MOSQ_ERR_EAI: throw .unknownHost(broker.host)
        case MOSQ_ERR_ERRNO where number != EPROTO:
            // After a failure, libmosquitto 2.1 asks the closed socket for its address, which overwrites the number.
            let reason = MQTTSharingError.text(ofSystemError: number == EBADF ? 0 : number)
            throw .unreachable(host: broker.host, port: broker.port, reason: reason)
        default: throw failure(code, number)
        }
    }

    /// Waits until the socket is readable or writable, or the signal is raised, and then reads and writes.
    ///
    /// - Parameter isReading: Whether to read; if not, the broker's data waits in the system's buffers.
    func step(_ signal: LinkSignal, atMost milliseconds: Int32, isReading: Bool = true) throws(MQTTSharingError) {
        let socket = mosquitto_socket(client)
        guard socket >= 0 else { throw .connectionLost(host: broker.host, reason: "the socket is closed") }
        let wish = (isReading ? POLLIN : 0) | (mosquitto_want_write(client) ? POLLOUT : 0)
        var watched = [
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(wish), revents: 0),
        ]
        poll(&watched, nfds_t(watched.count), milliseconds)
        signal.lower()
        let happened = Int32(watched[1].revents)
        if isReading, happened & ~POLLOUT != 0 { try read(socket) }
        if happened & POLLOUT != 0 { try check(mosquitto_loop_write(client, 1)) }
        try check(mosquitto_loop_misc(client))
        // Before the broker has answered, libmosquitto treats the end of a TLS stream as a pause.
        var byte: UInt8 = 0
        if isReading, happened & ~POLLOUT != 0, verdict == nil, recv(socket, &byte, 1, Int32(MSG_PEEK)) == 0 {
            throw .connectionLost(host: broker.host, reason: earlyEnd)
        }
    }

    /// Reads until no data is left, because the socket doesn't report data that TLS has already decrypted.
    private func read(_ socket: Int32) throws(MQTTSharingError) {
        for _ in 0..<100 {
            // With MQTT 5, the broker observes the limit.
            if version == .three, broker.security == nil, meter.announcesTooMuch(on: socket) {
                throw .oversized(host: broker.host, limit: largestPacket)
            }
            let known = arrivals.count
            errno = 0
            let code = mosquitto_loop_read(client, 1)
            let number = errno
            if meter.isExceeded(of: socket, hasArrival: arrivals.count > known, at: .now) {
                throw .oversized(host: broker.host, limit: largestPacket)
            }
            if let verdict, verdict != 0 { throw refusal(verdict) }
            guard code == MOSQ_ERR_SUCCESS.code else { throw failure(code, number) }
            if number == EAGAIN { return }
        }
    }

    func popArrivals() -> [Arrival] {
        defer { arrivals.removeAll() }
        return arrivals
    }

    /// Whether data waits to be sent, or messages wait for the broker's confirmation.
    var isBusy: Bool { mosquitto_want_write(client) || !unconfirmed.isEmpty }
    /// The number of messages that wait for the broker's confirmation.
    var unconfirmedCount: Int { unconfirmed.count }

    /// - Parameter isAwaited: Whether to add the broker's confirmation to the arrivals.
    func publish(_ message: MQTTMessage, isAwaited: Bool = false) throws(MQTTSharingError) {
        var number: Int32 = 0
        let code = mosquitto_publish(
            client, &number, message.topic, Int32(message.payload.count), message.payload, message.quality.rawValue,
            message.isRetained)
        if code == MOSQ_ERR_OVERSIZE_PACKET.code {
            throw .tooLargeForBroker(topic: message.topic, bytes: message.payload.count)
        }
        try check(code, "mosquitto_publish")
        if message.quality == .atLeastOnce { unconfirmed[number] = message.topic }
        if isAwaited { awaited.insert(number) }
    }

    func subscribe(_ filter: String, _ quality: MQTTMessage.Quality) throws(MQTTSharingError) {
        var number: Int32 = 0
        try check(mosquitto_subscribe(client, &number, filter, quality.rawValue), "mosquitto_subscribe")
        filters[number] = filter
    }

    func unsubscribe(_ filter: String) throws(MQTTSharingError) {
        try check(mosquitto_unsubscribe(client, nil, filter), "mosquitto_unsubscribe")
    }

    /// Disconnects regularly, so that the broker doesn't publish the will.
    ///
    /// Closing a socket with unread data resets the connection, and the broker loses the data that it hasn't read. The
    /// function therefore reads until the broker closes the connection or the deadline passes.
    func close(before deadline: ContinuousClock.Instant) {
        let socket = dup(mosquitto_socket(client))
        mosquitto_disconnect(client)
        guard socket >= 0 else { return }
        shutdown(socket, Int32(SHUT_WR))
        var bytes = [UInt8](repeating: 0, count: 4096)
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while ContinuousClock.now < deadline {
            if poll(&watched, 1, 100) > 0, recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT)) <= 0 { break }
        }
        Glibc.close(socket)
    }
}

// MARK: Setup

extension MQTTConnection {
    /// Registers the callbacks of libmosquitto.
    ///
    /// libmosquitto stores the connection's address without retaining the connection. `deinit` destroys the client
    /// before the address becomes invalid.
    private func listen() {
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_callback_set(client) { _, context, code in
            MQTTConnection.at(context)?.recordVerdict(code)
        }
        mosquitto_subscribe_callback_set(client) { _, context, number, count, granted in
            MQTTConnection.at(context)?.recordSubscription(number, isGranted: count > 0 && (granted?[0] ?? 128) < 128)
        }
        mosquitto_publish_v5_callback_set(client) { _, context, number, reason, _ in
            MQTTConnection.at(context)?.recordConfirmation(number, reason)
        }
        mosquitto_message_callback_set(client) { _, context, message in
            guard let message = message?.pointee, let topic = message.topic else { return }
            let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            MQTTConnection.at(context)?.arrivals.append(
                .message(
                    MQTTMessage(
                        topic: String(cString: topic), payload: [UInt8](payload),
                        quality: message.qos == 0 ? .atMostOnce : .atLeastOnce, isRetained: message.retain)))
        }
        mosquitto_log_callback_set(client) { _, context, level, text in
            guard UInt32(bitPattern: level) == UInt32(MOSQ_LOG_ERR), let text else { return }
            MQTTConnection.at(context)?.loggedError = String(cString: text)
        }
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> MQTTConnection? {
        context.map { Unmanaged<MQTTConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    private func recordVerdict(_ code: Int32) {
        verdict = code
        if code == 0 { arrivals.append(.accepted) }
    }

    private func recordSubscription(_ number: Int32, isGranted: Bool) {
        guard let filter = filters.removeValue(forKey: number) else { return }
        arrivals.append(.subscribed(filter: filter, isGranted: isGranted))
    }

    /// - Parameter reason: The broker's reason code, from 128 for a refusal. Source: *MQTT Version 5.0*, OASIS 2019,
    ///   table 3-4.
    private func recordConfirmation(_ number: Int32, _ reason: Int32) {
        let topic = unconfirmed.removeValue(forKey: number)
        let isAwaited = awaited.remove(number) != nil
        if reason >= 128, let topic {
            arrivals.append(.refused(topic: topic, reason: MQTTRefusal(code: reason), isAwaited: isAwaited))
        } else if isAwaited {
            arrivals.append(.confirmed)
        }
    }

    private func secure(_ security: MQTTSecurity) throws(MQTTSharingError) {
        for path in [security.authorityFile, security.certificateFile, security.keyFile].compactMap(\.self) {
            if let reason = Self.defect(ofFile: path) { throw .badFile(path: path, reason: reason) }
        }
        if let path = security.keyFile {
            do throws(SecretFileError) { try SecretFile(path, .key).check() } catch {
                throw .badFile(path: path, reason: error.explanation)
            }
        }
        // The system's certificates on Debian. OpenSSL also searches the folder that was set at its build.
        let folder = security.authorityFile == nil ? "/etc/ssl/certs" : nil
        if folder != nil { mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1) }
        let code = mosquitto_tls_set(
            client, security.authorityFile, folder, security.certificateFile, security.keyFile, nil)
        guard code == MOSQ_ERR_SUCCESS.code else {
            throw .insecure(host: broker.host, reason: "the TLS files don't match")
        }
    }
}

// MARK: Errors

extension MQTTConnection {
    /// Returns the reason that a file isn't readable; nil if it is.
    private static func defect(ofFile path: String) -> String? {
        guard let file = fopen(path, "r") else { return MQTTSharingError.text(ofSystemError: errno) }
        defer { fclose(file) }
        errno = 0
        guard fgetc(file) == EOF else { return nil }
        return errno == 0 ? "the file is empty" : MQTTSharingError.text(ofSystemError: errno)
    }

    /// The reason to report if the other end closes the connection before any answer.
    private var earlyEnd: String {
        "the server closed the connection before any answer; "
            + (broker.security == nil
                ? "the port may be for TLS" : "the port may be without TLS, or require another certificate")
    }

    private func check(_ code: Int32, _ function: String) throws(MQTTSharingError) {
        guard code == MOSQ_ERR_SUCCESS.code else {
            if code == MOSQ_ERR_NO_CONN.code { throw .connectionLost(host: broker.host, reason: Self.text(of: code)) }
            throw .library(function: function, reason: Self.text(of: code))
        }
    }

    private func check(_ code: Int32) throws(MQTTSharingError) {
        guard code == MOSQ_ERR_SUCCESS.code else { throw failure(code, errno) }
    }

    /// Returns the error for a failed attempt to connect, read or write.
    private func failure(_ code: Int32, _ number: Int32) -> MQTTSharingError {
        switch mosq_err_t(code) {
        case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE:
            return .insecure(host: broker.host, reason: loggedError ?? Self.text(of: code))
        case MOSQ_ERR_ERRNO where number == EPROTO:
            // libmosquitto's result for a TLS handshake that the other end aborts.
            return .insecure(host: broker.host, reason: loggedError ?? "the server aborted the TLS handshake")
        case MOSQ_ERR_KEEPALIVE: return .connectionLost(host: broker.host, reason: "the broker was silent for too long")
        case MOSQ_ERR_CONN_LOST where verdict == nil: return .connectionLost(host: broker.host, reason: earlyEnd)
        case MOSQ_ERR_CONN_LOST where number == 0, MOSQ_ERR_ERRNO where number == 0:
            return .connectionLost(host: broker.host, reason: "the broker closed the connection")
        case MOSQ_ERR_CONN_LOST, MOSQ_ERR_ERRNO:
            return .connectionLost(host: broker.host, reason: MQTTSharingError.text(ofSystemError: number))
        default: return .connectionLost(host: broker.host, reason: Self.text(of: code))
        }
    }

    /// Whether the connection failed because the broker doesn't support version 5: it said so, or closed the
    /// connection without an answer.
    func failsForItsVersion(_ error: MQTTSharingError) -> Bool {
        guard version == .five else { return false }
        if let verdict { return verdict == 1 || verdict == Int32(MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue) }
        if case .connectionLost = error { return true }
        return false
    }

    /// Returns the error for a return code of the broker. Sources: *MQTT Version 3.1.1*, OASIS 2014, table 3.1; *MQTT
    /// Version 5.0*, OASIS 2019, table 3-1.
    private func refusal(_ verdict: Int32) -> MQTTSharingError {
        switch verdict {
        case 4, 5, 134, 135:
            if let credentials = broker.credentials, credentials.password == nil {
                .missingPassword(host: broker.host, user: credentials.user)
            } else {
                .refusedCredentials(host: broker.host, user: broker.credentials?.user)
            }
        case 128...: .refused(host: broker.host, reason: String(cString: mosquitto_reason_string(verdict)))
        default: .refused(host: broker.host, reason: String(cString: mosquitto_connack_string(verdict)))
        }
    }

    private static func text(of code: Int32) -> String { String(cString: mosquitto_strerror(code)) }
}

extension mosq_err_t {
    /// The error code in the type that libmosquitto's functions return.
    fileprivate var code: Int32 { rawValue }
}

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
