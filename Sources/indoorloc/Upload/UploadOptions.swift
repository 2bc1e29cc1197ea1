import Foundation
import IndoorLocalization
import MQTTSharing
import RecordUpload
import VenuePackets

/// Options of the commands that upload what is heard and found, and what they mean.
struct UploadOptions: Sendable {
    /// Options of every command that uploads.
    static let options = [
        CommandOption(
            name: "upload-url", argument: "URL",
            help: "upload records there: https://HOST/…, or mqtt[s]://[USER@]HOST[:PORT]/TOPIC"),
        CommandOption(
            name: "upload-queue", argument: "FILE",
            help: "where records wait for the network (default DIR/uploads.db)"),
        CommandOption(
            name: "upload-name", argument: "ID", help: "what this device is called there (default the host's name)"),
        CommandOption(name: "upload-token-file", argument: "FILE", help: "file with the server's bearer token"),
        CommandOption(
            name: "upload-password-file", argument: "FILE",
            help: "file with user:password of a web server, or with a broker's password"),
        CommandOption(name: "upload-ca", argument: "FILE", help: "certificates (PEM) that may vouch for the server"),
        CommandOption(
            name: "upload-plain-credentials", help: "send token or password unencrypted, where others can read it"),
    ]
    /// What a command uploads that finds positions, too.
    static let contents = [
        CommandOption(name: "upload-beacons", help: "upload the beacons that are heard, as upload.beacons"),
        CommandOption(name: "upload-positions", help: "upload positions, as upload.positions"),
    ]

    /// Where records go.
    let destination: UploadDestination
    /// What this device is called there.
    let device: DeviceID
    /// The path of the queue.
    let queue: String

    /// Reads the options of a command; nil if it is to upload nothing.
    init?(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        guard let url = arguments.value("upload-url") else {
            let given = (Self.options + Self.contents).map(\.name).first(where: arguments.has)
            guard let given else { return nil }
            throw UsageError(message: "--\(given) needs --upload-url", command: command)
        }
        destination = try Self.destination(url, arguments)
        let name = arguments.value("upload-name")
        do throws(SharingNameError) { device = try DeviceID(name ?? ProcessInfo.processInfo.hostName) } catch {
            let what = name == nil ? "the host's name; give --upload-name" : "--upload-name"
            throw UsageError(message: "\(what): \(error)", command: command)
        }
        if let path = arguments.value("upload-queue") {
            guard !path.isEmpty else {
                throw UsageError(message: "--upload-queue must be a file, not ''", command: command)
            }
            queue = path
        } else {
            queue = try arguments.stateDirectory() + "/uploads.db"
        }
    }

    private static func destination(_ url: String, _ arguments: ParsedArguments) throws -> UploadDestination {
        if url.hasPrefix("mqtt://") || url.hasPrefix("mqtts://") { return try broker(url, arguments) }
        let server = try WebServerOption(
            "upload", passwordOption: "upload-password-file", plainOption: "upload-plain-credentials"
        ).server(url, arguments)
        return .web(server)
    }

    private static func broker(_ url: String, _ arguments: ParsedArguments) throws -> UploadDestination {
        let command = arguments.syntax.name
        if arguments.has("upload-token-file") {
            throw UsageError(message: "--upload-token-file is of a web server, not of a broker", command: command)
        }
        var address: MQTTAddress
        do throws(MQTTSharingError) {
            address = try MQTTAddress(url)
            if let user = address.broker.credentials?.user {
                address.broker.credentials =
                    try arguments.value("upload-password-file").map { file throws(MQTTSharingError) in
                        try MQTTCredentials(user: user, passwordFile: file)
                    } ?? MQTTCredentials(user: user, passwordVariable: MQTTCredentials.environmentVariable)
            }
            if let file = arguments.value("upload-ca") { address.broker.security?.authorityFile = file }
            address.broker.allowsPlainPassword = arguments.has("upload-plain-credentials")
            try address.broker.checkSecrecy()
        } catch { throw UsageError(message: "--upload-url: \(error)", command: command) }
        if address.broker.credentials == nil, arguments.has("upload-password-file") {
            throw UsageError(message: "--upload-password-file needs a user: mqtt://USER@…", command: command)
        }
        return .broker(address.broker, topic: address.room)
    }

    /// What uploads, not started yet.
    ///
    /// - Throws: `UploadQueueError` if the queue cannot be opened.
    func work(_ settings: UploadSettings) throws -> UploadWork {
        let folder = (queue as NSString).deletingLastPathComponent
        if !folder.isEmpty {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let queue = try UploadQueue(path: queue, limit: settings.queueSize)
        // A broker has a topic for each device, so that its access lists can tell them apart.
        let destination: UploadDestination =
            switch destination {
            case .web: destination
            case .broker(let broker, let topic): .broker(broker, topic: "\(topic)/\(device)")
            }
        return UploadWork(
            RecordUploader(queue, to: destination, device: "\(device)", settings: settings), settings)
    }
}

extension ParsedArguments {
    /// The settings, with what the options of an upload say.
    ///
    /// - Throws: what is wrong with a setting.
    func settingsOfUpload() throws -> SettingsStack {
        var stack = try settings()
        for (option, key) in [("upload-beacons", "upload.beacons"), ("upload-positions", "upload.positions")]
        where has(option) {
            try stack.override(key, true, place: "--" + option)
        }
        stack.apply()
        return stack
    }
}
