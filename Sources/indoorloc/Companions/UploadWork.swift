import IndoorLocalization
import RecordUpload

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
