import IndoorLocalization
import RecordUpload

/// Uploads what a source delivers and a session finds; what becomes of it is told on standard error.
///
/// A class, as the source, which delivers on a task of its own, and the upload share it.
final class UploadWork: ServiceCompanion, Sendable {
    /// How often what was collected is written to the queue.
    private static let writeInterval = Duration.seconds(1)

    private let uploader: RecordUploader
    private let collector: Guarded<UploadCollector>
    /// What the source told last of the time.
    private let wallClock = Guarded<WallClock?>(nil)
    /// Why batches are not taken, as it was told last; nil if they are taken.
    private let trouble = Guarded<String?>(nil)

    init(_ uploader: RecordUploader, _ settings: UploadSettings) {
        self.uploader = uploader
        collector = Guarded(UploadCollector(settings))
    }

    /// Takes in what a source delivers.
    ///
    /// - Parameter clock: the source's, which positions have their times of, too.
    func take(_ reading: SensorReading, by clock: WallClock?) {
        wallClock.withLock { $0 = clock }
        collector.withLock { $0.receive(reading, by: clock) }
    }

    /// Makes other settings count.
    func setSettings(_ settings: UploadSettings) async {
        collector.withLock { $0.settings = settings }
        do throws(UploadQueueError) { try await uploader.setSettings(settings) } catch {
            StandardError.line("upload: \(error)")
        }
    }

    /// What was counted, in words.
    var summary: String {
        get async {
            guard let counts = try? await uploader.counts else { return "upload: the queue cannot be read" }
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

    /// Uploads until the task is cancelled; what was not confirmed by then waits in the queue.
    func run(_ addTasks: (inout TaskGroup<Void>) -> Void = { _ in }) async {
        await withTaskGroup { group in
            addTasks(&group)
            let (errors, confirmed) = (uploader.errors, uploader.confirmed)
            group.addTask { for await error in errors { self.tell(error) } }
            group.addTask { for await _ in confirmed { self.tellOfSuccess() } }
            do { try await uploader.start() } catch { StandardError.line("upload: \(error)") }
            var isWritten = true
            while !Task.isCancelled {
                isWritten = await write(tellingFailure: isWritten)
                try? await Task.sleep(for: Self.writeInterval)
            }
            group.cancelAll()
            await group.waitForAll()
            _ = await write(tellingFailure: isWritten)
            await uploader.stop()
        }
    }

    /// Puts what was collected into the queue; whether it could be written.
    private func write(tellingFailure tells: Bool) async -> Bool {
        let records = collector.withLock { $0.drain() }
        guard !records.isEmpty else { return true }
        do throws(UploadQueueError) { try await uploader.add(records) } catch {
            collector.withLock { $0.putBack(records) }
            if tells { StandardError.line("upload: \(error)") }
            return false
        }
        return true
    }

    /// Tells why batches are not taken, each reason once.
    private func tell(_ error: UploadError) {
        let last = trouble.withLock { trouble in
            defer { trouble = error.description }
            return trouble
        }
        if last != error.description { StandardError.line("upload: \(error)") }
    }

    /// Tells that batches are taken again, if they were not.
    private func tellOfSuccess() {
        let last = trouble.withLock { trouble in
            defer { trouble = nil }
            return trouble
        }
        if last != nil { StandardError.line("upload: records are taken again") }
    }
}
