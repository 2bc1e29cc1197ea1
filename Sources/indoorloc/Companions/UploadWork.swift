import Foundation
import IndoorLocalization
import MQTTSharing
import RecordUpload
import VenuePackets

/// The upload of a source's readings and a session's positions. Errors are reported on standard error.
///
/// A class, as the task of the source and the task of the upload share it.
final class UploadWork: SessionCompanion, Sendable {
    /// The interval at which collected records are written to the queue.
    private static let writeInterval = Duration.seconds(1)

    private let uploader: RecordUploader
    private let collector: Guarded<UploadCollector>
    /// The source's latest wall clock.
    private let wallClock = Guarded<WallClock?>(nil)
    /// The last reported error of an upload; nil after a success.
    private let trouble = Guarded<String?>(nil)

    init(_ uploader: RecordUploader, _ settings: UploadSettings) {
        self.uploader = uploader
        collector = Guarded(UploadCollector(settings))
    }

    /// Collects a reading of the source.
    ///
    /// - Parameter clock: the source's wall clock, which also gives the times of positions.
    func receive(_ reading: SensorReading, by clock: WallClock?) {
        wallClock.withLock { $0 = clock }
        collector.withLock { $0.receive(reading, by: clock) }
    }

    /// Changes the settings.
    func setSettings(_ settings: UploadSettings) async {
        collector.withLock { $0.settings = settings }
        do throws(UploadQueueError) { try await uploader.setSettings(settings) } catch {
            StandardError.line("upload: \(error)", .warning)
        }
    }

    /// The counts in words.
    var summary: String {
        get async {
            guard let counts = try? await uploader.counts else { return "upload: the queue can't be read" }
            let lost = collector.withLock { $0.lost }
            return "upload: \(counts.sent) sent, \(counts.waiting) waiting, \(counts.dropped + lost) dropped, "
                + "\(counts.rejected) rejected"
        }
    }

    func run(beside localizer: Localizer) async {
        let (positions, outdoors) = (localizer.positions, localizer.outdoorPositions)
        await run { group in
            group.addTask {
                for await position in positions {
                    let clock = self.wallClock.withLock { $0 }
                    self.collector.withLock { $0.receive(position, by: clock) }
                }
            }
            group.addTask {
                for await position in outdoors {
                    let clock = self.wallClock.withLock { $0 }
                    self.collector.withLock { $0.receive(position, by: clock) }
                }
            }
        }
    }

    /// Uploads until the task is cancelled; unconfirmed records stay in the queue.
    func run(_ addTasks: (inout TaskGroup<Void>) -> Void = { _ in }) async {
        await withTaskGroup { group in
            addTasks(&group)
            let (errors, confirmed) = (uploader.errors, uploader.confirmed)
            group.addTask { for await error in errors { self.report(error) } }
            group.addTask { for await _ in confirmed { self.reportSuccess() } }
            do { try await uploader.start() } catch { StandardError.line("upload: \(error)", .warning) }
            var isWritten = true
            while !Task.isCancelled {
                isWritten = await write(reportingFailure: isWritten)
                try? await Task.sleep(for: Self.writeInterval)
            }
            group.cancelAll()
            await group.waitForAll()
            _ = await write(reportingFailure: isWritten)
            await uploader.stop()
        }
    }

    /// Writes the collected records to the queue; returns whether it succeeded.
    private func write(reportingFailure reports: Bool) async -> Bool {
        let records = collector.withLock { $0.drain() }
        guard !records.isEmpty else { return true }
        do throws(UploadQueueError) { try await uploader.add(records) } catch {
            collector.withLock { $0.putBack(records) }
            if reports { StandardError.line("upload: \(error)", .warning) }
            return false
        }
        return true
    }

    /// Reports why batches are rejected, each reason once.
    private func report(_ error: UploadError) {
        let last = trouble.withLock { trouble in
            defer { trouble = error.description }
            return trouble
        }
        if last != error.description { StandardError.line("upload: \(error)", .warning) }
    }

    /// Reports that uploads succeed again after an error.
    private func reportSuccess() {
        let last = trouble.withLock { trouble in
            defer { trouble = nil }
            return trouble
        }
        if last != nil { StandardError.line("upload: resumed", .notice) }
    }
}

/// The options of the commands that upload sightings and positions, and their values.
struct UploadOptions: Sendable {
    /// The options of every command that uploads.
    static let options = [
        CommandOption(
            name: "upload-url", argument: "URL",
            help: "upload records to https://HOST/… or mqtt[s]://[USER@]HOST[:PORT]/TOPIC"),
        CommandOption(
            name: "upload-queue", argument: "FILE",
            help: "queue for records until they are sent (default DIR/uploads.db)"),
        CommandOption(
            name: "upload-name", argument: "ID", help: "name of this device (default: the host name)"),
        CommandOption(name: "upload-token-file", argument: "FILE", help: "file with the server's bearer token"),
        CommandOption(
            name: "upload-password-file", argument: "FILE",
            help: "file with user:password for a web server, or with the password for a broker"),
        CommandOption(
            name: "upload-ca", argument: "FILE", help: "certificate authorities (PEM) to trust for the server"),
        CommandOption(
            name: "upload-plain-credentials", help: "allow sending the token or password unencrypted"),
    ]
    /// The options that select the records, for a command with positions.
    static let contents = [
        CommandOption(name: "upload-beacons", help: "upload beacon sightings (setting upload.beacons)"),
        CommandOption(name: "upload-positions", help: "upload positions (setting upload.positions)"),
    ]

    /// The destination of the records.
    let destination: UploadDestination
    /// The name of this device.
    let device: DeviceID
    /// The path of the queue.
    let queue: String
    /// Whether the queue is in the state directory, where no other program has files.
    private let isDefaultQueue: Bool

    /// Reads the options of a command; returns nil without `--upload-url`.
    init?(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        guard let url = arguments.value("upload-url") else {
            let given = (Self.options + Self.contents).map(\.name).first(where: arguments.has)
            guard let given else { return nil }
            throw UsageError(message: "--\(given) requires --upload-url", command: command)
        }
        destination = try Self.destination(url, arguments)
        let name = arguments.value("upload-name")
        do throws(SharingNameError) { device = try DeviceID(name ?? ProcessInfo.processInfo.hostName) } catch {
            let what = name == nil ? "the host name (set --upload-name)" : "--upload-name"
            throw UsageError(message: "\(what): \(error)", command: command)
        }
        if let path = arguments.value("upload-queue") {
            guard !path.isEmpty else {
                throw UsageError(message: "--upload-queue must be the path of a file, not ''", command: command)
            }
            queue = path
            isDefaultQueue = false
        } else {
            isDefaultQueue = true
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
            throw UsageError(message: "--upload-token-file requires a web server, not a broker", command: command)
        }
        var address: MQTTAddress
        func refusal(_ error: MQTTSharingError) -> UsageError {
            UsageError(message: "--upload-url: \(error)", command: command)
        }
        do throws(MQTTSharingError) { address = try MQTTAddress(url) } catch { throw refusal(error) }
        let passwordOption = "upload-password-file"
        if let user = address.broker.credentials?.user {
            address.broker.credentials = try arguments.credentials(of: user, passwordOption: passwordOption)
        } else if arguments.has(passwordOption) {
            throw UsageError(message: "--\(passwordOption) requires a user: mqtt://USER@…", command: command)
        }
        if let file = arguments.value("upload-ca") { address.broker.security?.authorityFile = file }
        address.broker.allowsPlainPassword = arguments.has("upload-plain-credentials")
        do throws(MQTTSharingError) { try address.broker.checkSecrecy() } catch { throw refusal(error) }
        return .broker(address.broker, topic: address.room)
    }

    /// Opens the queue. A damaged one is renamed, as the session's memory is, and an empty one replaces it.
    private func openQueue(limit: Int) throws(UploadQueueError) -> UploadQueue {
        do throws(UploadQueueError) { return try UploadQueue(path: queue, limit: limit) } catch {
            // A file that the user names may belong to another program.
            guard error.reason == .damaged || isDefaultQueue && error.reason == .notAQueue else { throw error }
            let aside = queue + ".unusable"
            do throws(FileSystemError) { try DiskFolder.place(database: queue, at: aside) } catch let failure {
                StandardError.line("\(queue) can't be renamed: \(failure)", .warning)
                throw error
            }
            StandardError.line(
                "\(queue): the upload queue is damaged; moved to \(aside); an empty one replaces it", .warning)
            return try UploadQueue(path: queue, limit: limit)
        }
    }

    /// Returns the upload, not yet started.
    ///
    /// - Throws: `UploadQueueError` if the queue can't be opened.
    func work(_ settings: UploadSettings) throws -> UploadWork {
        let folder = (queue as NSString).deletingLastPathComponent
        if !folder.isEmpty {
            try DiskFolder.create(folder)
        }
        let queue = try openQueue(limit: settings.queueSize)
        // Each device has its own topic, so that a broker's access lists can distinguish devices.
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
    /// The settings with the upload options.
    ///
    /// - Throws: the error of an invalid setting.
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
