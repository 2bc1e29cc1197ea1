import CMosquitto
import Glibc

/// A connection to a broker, used by one thread from its beginning to its end.
///
/// libmosquitto calls back only from within the functions that are called here, on the same thread, as none of its own is
/// started: what it hands over is collected in `arrivals` and taken from there.
final class MQTTConnection {
    /// What the broker says.
    enum Arrival {
        case accepted
        case subscribed(filter: String, isGranted: Bool)
        case message(MQTTMessage)
        /// It has the message whose confirmation was asked for.
        case confirmed
    }

    private let client: OpaquePointer
    private let broker: MQTTBroker
    private var arrivals: [Arrival] = []
    private var filters: [Int32: String] = [:]
    /// Numbers of the messages that the broker has not confirmed yet.
    private var unconfirmed: Set<Int32> = []
    /// Of these, the numbers of those whose confirmation is awaited.
    private var awaited: Set<Int32> = []
    /// What the broker said to the connection, by number; 0 lets in, nil is nothing yet.
    private var verdict: Int32?
    /// The latest error that libmosquitto has logged, which tells more of TLS than its codes.
    private var loggedError: String?

    /// libmosquitto is set up once, when it is first used, as that is not safe from several threads.
    private static let isLibraryReady = mosquitto_lib_init() == MOSQ_ERR_SUCCESS.code

    /// - Parameter will: what the broker publishes if the connection breaks; nil for nothing.
    init(_ broker: MQTTBroker, clientID: String, will: MQTTMessage?) throws(MQTTSharingError) {
        try broker.checkSecrecy()
        guard Self.isLibraryReady, let client = mosquitto_new(clientID, true, nil) else {
            throw .library(function: "mosquitto_new", reason: MQTTSharingError.text(ofSystemError: errno))
        }
        self.client = client
        self.broker = broker
        listen()
        // 3.1.1: every broker speaks it, and nothing of 5 is needed.
        mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V311)
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

    /// Connects, which may take as long as the network takes; the broker's answer arrives later.
    func open(keepAliveSeconds: Int32) throws(MQTTSharingError) {
        errno = 0
        let code = mosquitto_connect(client, broker.host, Int32(broker.port), keepAliveSeconds)
        let number = errno
        switch mosq_err_t(code) {
        case MOSQ_ERR_SUCCESS: return
        case MOSQ_ERR_EAI: throw .unknownHost(broker.host)
        case MOSQ_ERR_ERRNO where number != EPROTO:
            let reason = MQTTSharingError.text(ofSystemError: number)
            throw .unreachable(host: broker.host, port: broker.port, reason: reason)
        default: throw failure(code, number)
        }
    }

    /// Waits until something can be read or written, or the signal is raised, and does it.
    func step(_ signal: LinkSignal, atMost milliseconds: Int32) throws(MQTTSharingError) {
        let socket = mosquitto_socket(client)
        guard socket >= 0 else { throw .connectionLost(host: broker.host, reason: "it is closed") }
        let wish = POLLIN | (mosquitto_want_write(client) ? POLLOUT : 0)
        var watched = [
            pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(wish), revents: 0),
        ]
        poll(&watched, nfds_t(watched.count), milliseconds)
        signal.lower()
        let happened = Int32(watched[1].revents)
        if happened & ~POLLOUT != 0 { try read() }
        if happened & POLLOUT != 0 { try check(mosquitto_loop_write(client, 1)) }
        try check(mosquitto_loop_misc(client))
        // Before the broker has answered, libmosquitto takes an end of the stream within TLS for a pause.
        var byte: UInt8 = 0
        if happened & ~POLLOUT != 0, verdict == nil, recv(socket, &byte, 1, Int32(MSG_PEEK)) == 0 {
            throw .connectionLost(host: broker.host, reason: earlyEnd)
        }
    }

    /// Reads until nothing is there: of what TLS has decrypted already, the socket tells nothing.
    private func read() throws(MQTTSharingError) {
        for _ in 0..<100 {
            errno = 0
            let code = mosquitto_loop_read(client, 1)
            let number = errno
            if let verdict, verdict != 0 { throw refusal(verdict) }
            guard code == MOSQ_ERR_SUCCESS.code else { throw failure(code, number) }
            if number == EAGAIN { return }
        }
    }

    func takeArrivals() -> [Arrival] {
        defer { arrivals.removeAll() }
        return arrivals
    }

    /// Whether something waits to be sent, or for the broker to confirm it.
    var isBusy: Bool { mosquitto_want_write(client) || !unconfirmed.isEmpty }

    /// - Parameter isAwaited: whether the broker's confirmation is to be among the arrivals.
    func publish(_ message: MQTTMessage, isAwaited: Bool = false) throws(MQTTSharingError) {
        var number: Int32 = 0
        let code = mosquitto_publish(
            client, &number, message.topic, Int32(message.payload.count), message.payload, message.quality.rawValue,
            message.isRetained)
        try check(code, "mosquitto_publish")
        if message.quality == .atLeastOnce { unconfirmed.insert(number) }
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

    /// Says goodbye, so that the broker does not execute the will.
    ///
    /// A socket that is closed while something is left to be read in it is reset, and what the other end has not read by
    /// then is lost: so the broker is read out until it hangs up, or the deadline.
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

// MARK: Setting up

extension MQTTConnection {
    /// Has libmosquitto hand over what comes.
    ///
    /// It keeps the connection's address without owning it: the client is destroyed with the connection, before that
    /// address means nothing.
    private func listen() {
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_callback_set(client) { _, context, code in
            MQTTConnection.at(context)?.noteVerdict(code)
        }
        mosquitto_subscribe_callback_set(client) { _, context, number, count, granted in
            MQTTConnection.at(context)?.noteSubscription(number, isGranted: count > 0 && (granted?[0] ?? 128) < 128)
        }
        mosquitto_publish_callback_set(client) { _, context, number in
            MQTTConnection.at(context)?.noteConfirmation(number)
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

    private func noteVerdict(_ code: Int32) {
        verdict = code
        if code == 0 { arrivals.append(.accepted) }
    }

    private func noteSubscription(_ number: Int32, isGranted: Bool) {
        guard let filter = filters.removeValue(forKey: number) else { return }
        arrivals.append(.subscribed(filter: filter, isGranted: isGranted))
    }

    private func noteConfirmation(_ number: Int32) {
        unconfirmed.remove(number)
        if awaited.remove(number) != nil { arrivals.append(.confirmed) }
    }

    private func secure(_ security: MQTTSecurity) throws(MQTTSharingError) {
        for path in [security.authorityFile, security.certificateFile, security.keyFile].compactMap(\.self) {
            if let reason = Self.defect(ofFile: path) { throw .badFile(path: path, reason: reason) }
        }
        // Where the system keeps them on Debian; beside that, OpenSSL looks where it was told to at its build.
        let folder = security.authorityFile == nil ? "/etc/ssl/certs" : nil
        if folder != nil { mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1) }
        let code = mosquitto_tls_set(
            client, security.authorityFile, folder, security.certificateFile, security.keyFile, nil)
        guard code == MOSQ_ERR_SUCCESS.code else {
            throw .insecure(host: broker.host, reason: "the files for TLS do not fit each other")
        }
    }
}

// MARK: Errors

extension MQTTConnection {
    /// Why a file cannot be read; nil if it can be.
    private static func defect(ofFile path: String) -> String? {
        guard let file = fopen(path, "r") else { return MQTTSharingError.text(ofSystemError: errno) }
        defer { fclose(file) }
        errno = 0
        guard fgetc(file) == EOF else { return nil }
        return errno == 0 ? "it is empty" : MQTTSharingError.text(ofSystemError: errno)
    }

    /// What it means that the other end hangs up before it has said anything.
    private var earlyEnd: String {
        "what listens there hung up before any answer; "
            + (broker.security == nil
                ? "the port may be one for TLS" : "the port may be one without TLS, or want another certificate")
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

    /// What a failed attempt to connect, to read or to write means.
    private func failure(_ code: Int32, _ number: Int32) -> MQTTSharingError {
        switch mosq_err_t(code) {
        case MOSQ_ERR_TLS, MOSQ_ERR_TLS_HANDSHAKE:
            return .insecure(host: broker.host, reason: loggedError ?? Self.text(of: code))
        case MOSQ_ERR_ERRNO where number == EPROTO:
            // What libmosquitto makes of a handshake that the other end breaks off.
            return .insecure(host: broker.host, reason: loggedError ?? "the handshake was broken off")
        case MOSQ_ERR_KEEPALIVE: return .connectionLost(host: broker.host, reason: "it was silent for too long")
        case MOSQ_ERR_CONN_LOST where verdict == nil: return .connectionLost(host: broker.host, reason: earlyEnd)
        case MOSQ_ERR_CONN_LOST where number == 0, MOSQ_ERR_ERRNO where number == 0:
            return .connectionLost(host: broker.host, reason: "the broker closed it")
        case MOSQ_ERR_CONN_LOST, MOSQ_ERR_ERRNO:
            return .connectionLost(host: broker.host, reason: MQTTSharingError.text(ofSystemError: number))
        default: return .connectionLost(host: broker.host, reason: Self.text(of: code))
        }
    }

    /// Source: *MQTT Version 3.1.1*, OASIS 2014, table 3.1.
    private func refusal(_ verdict: Int32) -> MQTTSharingError {
        switch verdict {
        case 4, 5:
            if let credentials = broker.credentials, credentials.password == nil {
                .missingPassword(host: broker.host, user: credentials.user)
            } else {
                .refusedCredentials(host: broker.host, user: broker.credentials?.user)
            }
        default: .refused(host: broker.host, reason: String(cString: mosquitto_connack_string(verdict)))
        }
    }

    private static func text(of code: Int32) -> String { String(cString: mosquitto_strerror(code)) }
}

extension MQTTSharingError {
    /// What the system says of an error number.
    static func text(ofSystemError number: Int32) -> String {
        // Without a number, its text would be "Success".
        guard number != 0, let text = strerror(number) else { return "the system names no reason" }
        return String(cString: text)
    }
}

extension mosq_err_t {
    /// The error as libmosquitto's functions return it.
    fileprivate var code: Int32 { rawValue }
}
