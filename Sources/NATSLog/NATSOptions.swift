import CNATS
import TagTracking

/// The options of a connection as libnats takes them.
final class NATSOptions {
    let pointer: OpaquePointer

    init(_ servers: NATSServers, name: String, events: NATSEvents) throws(NATSFailure) {
        var options: OpaquePointer?
        let status = natsOptions_Create(&options)
        guard status == NATS_OK, let options else { throw NATSFailure(status) }
        pointer = options
        try setServers(servers.urls)
        try NATSFailure.check(natsOptions_SetName(options, name))
        // If a server doesn't answer two pings, the connection changes to another server before most leases expire.
        try NATSFailure.check(natsOptions_SetTimeout(options, 2_000))
        try NATSFailure.check(natsOptions_SetPingInterval(options, 1_000))
        try NATSFailure.check(natsOptions_SetMaxPingsOut(options, 2))
        try NATSFailure.check(natsOptions_SetMaxReconnect(options, .max))
        try NATSFailure.check(natsOptions_SetReconnectWait(options, 100))
        // While the connection is broken, buffer nothing: a delayed write must not arrive after a newer one.
        try NATSFailure.check(natsOptions_SetReconnectBufSize(options, 1))
        try NATSFailure.check(natsOptions_SetFailRequestsOnDisconnect(options, true))
        try setCredentials(servers)
        try setSecurity(servers)
        try events.attach(to: options)
    }

    deinit { natsOptions_Destroy(pointer) }

    private func setServers(_ urls: [String]) throws(NATSFailure) {
        var status = NATS_OK
        Self.withCStrings(urls) { pointers in
            var pointers = pointers
            status = natsOptions_SetServers(pointer, &pointers, Int32(pointers.count))
        }
        try NATSFailure.check(status)
    }

    private static func withCStrings(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> Void) {
        func next(_ index: Int, _ pointers: [UnsafePointer<CChar>?]) {
            guard index < texts.count else { return body(pointers) }
            texts[index].withCString { next(index + 1, pointers + [$0]) }
        }
        next(0, [])
    }

    private func setCredentials(_ servers: NATSServers) throws(NATSFailure) {
        if let user = servers.user {
            try NATSFailure.check(natsOptions_SetUserInfo(pointer, user.user, user.password))
        }
        if let file = servers.credentialsFile {
            try NATSFailure.check(natsOptions_SetUserCredentialsFromFiles(pointer, file, nil))
        }
    }

    private func setSecurity(_ servers: NATSServers) throws(NATSFailure) {
        let isSecure = servers.urls.contains { $0.hasPrefix("tls://") }
        guard isSecure || servers.security != nil else { return }
        try NATSFailure.check(natsOptions_SetSecure(pointer, true))
        guard let security = servers.security else { return }
        if let file = security.authorityFile {
            try NATSFailure.check(natsOptions_LoadCATrustedCertificates(pointer, file))
        }
        if let certificate = security.certificateFile {
            try NATSFailure.check(
                natsOptions_LoadCertificatesChain(pointer, certificate, security.keyFile ?? certificate))
        }
    }
}
