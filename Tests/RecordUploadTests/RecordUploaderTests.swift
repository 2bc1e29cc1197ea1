import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import RecordUpload
import VenuePackets
import XCTest

/// Uploads of batches to real web servers and to a real broker.
final class RecordUploaderTests: XCTestCase {
    /// Time limits that no busy machine reaches.
    private static let patience: RetryPolicy = {
        var policy = RetryPolicy()
        policy.connectTimeout = Bounded.longest
        policy.stallTimeout = Bounded.longest
        policy.transferTimeout = Bounded.longest
        return policy
    }()

    private func settings(size: Int = 100) -> UploadSettings {
        var settings = UploadSettings()
        settings.batchSize = size
        return settings
    }

    private func queue(_ count: Int) async throws -> UploadQueue {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db")
        if count > 0 { try await queue.append(UploadRecord.numbered(1...count)) }
        return queue
    }

    private func rudeServer(_ answer: @escaping @Sendable (String) -> String) throws -> RudeServer {
        let server = try RudeServer { _, request in .with("HTTP/1.1 \(answer(request))\nContent-Length: 0") }
        addTeardownBlock { server.stop() }
        return server
    }

    private func body(of request: String) throws -> ReadBatch {
        let parts = request.components(separatedBy: "\r\n\r\n")
        XCTAssertEqual(parts.count, 2)
        return try ReadBatch(Array((parts.last ?? "").utf8))
    }

    /// Advances the clock to its next alarm.
    private func ring(_ clock: ManualClock) async throws {
        clock.advance(to: try await Bounded.wait(for: "the alarm") { try await clock.waitForSleeper() })
    }

    func testTheUploaderPostsABatchToAWebServerThatRequiresAToken() async throws {
        let configuration = NginxServer.Configuration(
            location: "if ($http_authorization != 'Bearer open sesame') { return 401; } return 204;")
        let nginx = try NginxServer(
            root: try temporaryFolder(), folder: try temporaryFolder(), configuration)
        // XCTest requires a sendable block. It runs after the test, when nothing else uses the server.
        nonisolated(unsafe) let stopped = nginx
        addTeardownBlock { stopped.stop() }
        let queue = try await queue(3)
        let server = try VenueServer(
            nginx.url() + "/ingest", credentials: .bearer("opensesame"), patience: Self.patience)
        let refused = RecordUploader(queue, to: .web(server), device: "a", settings: settings(), clock: ManualClock())
        let errors = refused.errors
        try await refused.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.kind, .refused)
        XCTAssertEqual(error.status, 401)
        await refused.stop()
        let open = NginxServer.Configuration(
            location: "if ($http_authorization != 'Bearer opensesame') { return 401; } return 204;")
        let other = try NginxServer(root: try temporaryFolder(), folder: try temporaryFolder(), open)
        nonisolated(unsafe) let otherStopped = other
        addTeardownBlock { otherStopped.stop() }
        let uploader = RecordUploader(
            queue,
            to: .web(
                try VenueServer(other.url() + "/ingest", credentials: .bearer("opensesame"), patience: Self.patience)),
            device: "a",
            settings: settings(), clock: ManualClock())
        let confirmed = uploader.confirmed
        try await uploader.start()
        let batch = try await Bounded.first(1, of: confirmed)[0]
        XCTAssertEqual(batch.count, 3)
        await uploader.stop()
        let counts = try await uploader.counts
        XCTAssertEqual(counts.sent, 3)
        XCTAssertEqual(counts.waiting, 0)
        let requests = try other.stopAndTellRequests()
        XCTAssertEqual(requests.map(\.path), ["/ingest"])
        XCTAssertEqual(requests.map(\.authorization), ["Bearer opensesame"])
    }

    func testABatchIsSentWithTheSameIdentifierUntilItIsConfirmed() async throws {
        let answers = Guarded(["503 Service Unavailable", "500 Internal Server Error", "202 Accepted"])
        let server = try rudeServer { _ in answers.withLock { $0.isEmpty ? "200 OK" : $0.removeFirst() } }
        let clock = ManualClock()
        let uploader = RecordUploader(
            try await queue(0), to: .web(try VenueServer(server.url + "/records", patience: Self.patience)),
            device: "forklift",
            settings: settings(), clock: clock, seed: 1)
        let (errors, confirmed) = (uploader.errors, uploader.confirmed)
        try await uploader.start()
        try await uploader.add(UploadRecord.numbered(1...2))
        XCTAssertEqual(server.requests, [], "the batch is not full")
        try await ring(clock)
        _ = try await Bounded.first(1, of: errors)
        // Added during the outage: it does not belong to the batch that waits.
        try await uploader.add(UploadRecord.numbered(3...3))
        try await ring(clock)
        try await ring(clock)
        let batch = try await Bounded.first(1, of: confirmed)[0]
        let requests = server.requests
        XCTAssertEqual(requests.count, 3)
        for request in requests {
            XCTAssertTrue(request.hasPrefix("POST /records HTTP/1.1\r\n"), request)
            XCTAssertTrue(request.contains("Content-Type: application/json\r\n"), request)
            XCTAssertTrue(request.contains("Idempotency-Key: \"\(batch.id)\"\r\n"), request)
            let read = try body(of: request)
            XCTAssertEqual(read.batch, batch.id)
            XCTAssertEqual(read.device, "forklift")
            XCTAssertEqual(read.records.map(\.number), [1, 2])
        }
        let failures = await uploader.failures
        XCTAssertEqual(failures, 2)
        try await ring(clock)
        let next = try await Bounded.first(1, of: confirmed)[0]
        XCTAssertNotEqual(next.id, batch.id)
        XCTAssertEqual(try body(of: try XCTUnwrap(server.requests.last)).records.map(\.number), [3])
        await uploader.stop()
    }

    func testAStopDuringAStartKeepsTheUploaderStopped() async throws {
        let server = try rudeServer { _ in "200 OK" }
        let uploader = RecordUploader(
            try await queue(1), to: .web(try VenueServer(server.url, patience: Self.patience)), device: "a",
            settings: settings(), clock: ManualClock())
        let confirmed = uploader.confirmed
        let state = try await uploader.startAndStop()
        XCTAssertEqual(state, .stopped)
        XCTAssertEqual(server.requests, [])
        try await uploader.start()
        _ = try await Bounded.first(1, of: confirmed)
        await uploader.stop()
    }

    func testAnUnreachableServerIsReportedAndNoRecordIsLost() async throws {
        let server = try VenueServer("http://127.0.0.1:\(try TestPort.free())", patience: Self.patience)
        let queue = try await queue(2)
        let uploader = RecordUploader(queue, to: .web(server), device: "a", settings: settings(), clock: ManualClock())
        let errors = uploader.errors
        try await uploader.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.kind, .unreachable)
        XCTAssertNil(error.status)
        await uploader.stop()
        let waiting = try await queue.waiting
        XCTAssertEqual(waiting, 2)
    }

    func testTheUploaderDividesATooLargeBatchAndCountsARejectedOne() async throws {
        // The server accepts at most two records, and never the fourth.
        let server = try rudeServer { request in
            let count = request.components(separatedBy: "\"number\":").count - 1
            if count > 2 { return "413 Content Too Large" }
            return request.contains("\"number\":4,") ? "422 Unprocessable Content" : "204 No Content"
        }
        let queue = try await queue(5)
        let uploader = RecordUploader(
            queue, to: .web(try VenueServer(server.url, patience: Self.patience)), device: "a",
            settings: settings(size: 4),
            clock: ManualClock())
        let (errors, confirmed) = (uploader.errors, uploader.confirmed)
        try await uploader.start()
        let batch = try await Bounded.first(1, of: confirmed)[0]
        XCTAssertEqual(batch.count, 2)
        let reported = try await Bounded.first(2, of: errors)
        XCTAssertEqual(reported.map(\.kind), [.tooLarge, .rejected])
        await uploader.stop()
        let counts = try await queue.counts
        XCTAssertEqual(counts.sent, 2)
        XCTAssertEqual(counts.rejected, 2)
        XCTAssertEqual(counts.waiting, 1)
    }

    func testATooLargeBatchOfAnEarlierRunIsDividedAlsoIfBatchesHaveOneRecordNow() async throws {
        let server = try rudeServer { request in
            request.components(separatedBy: "\"number\":").count > 2 ? "413 Content Too Large" : "204 No Content"
        }
        let queue = try await queue(3)
        _ = try await queue.nextBatch(size: 3, device: "a")
        let uploader = RecordUploader(
            queue, to: .web(try VenueServer(server.url, patience: Self.patience)), device: "a",
            settings: settings(size: 1), clock: ManualClock())
        let confirmed = uploader.confirmed
        try await uploader.start()
        let batches = try await Bounded.first(3, of: confirmed)
        XCTAssertEqual(batches.map(\.count), [1, 1, 1])
        await uploader.stop()
        let counts = try await queue.counts
        XCTAssertEqual([counts.sent, counts.rejected, counts.waiting], [3, 0, 0])
    }

    func testARefusalOfRecordsSpeaksOfRecords() async throws {
        for (credentials, text) in [
            (nil, "and no credentials were given; check that the server accepts records at this address"),
            (.bearer("old"), "the server refused the credentials (status 403"),
        ] as [(VenueServerCredentials?, String)] {
            let server = try rudeServer { _ in "403 Forbidden" }
            let address = try VenueServer(server.url, credentials: credentials, patience: Self.patience)
            let uploader = RecordUploader(
                try await queue(1), to: .web(address), device: "a", settings: settings(), clock: ManualClock())
            let errors = uploader.errors
            try await uploader.start()
            let error = try await Bounded.first(1, of: errors)[0]
            await uploader.stop()
            XCTAssertEqual(error.kind, .refused)
            XCTAssertEqual(error.status, 403)
            XCTAssertTrue(error.description.contains(text), error.description)
            XCTAssertFalse(error.description.contains("venue"), error.description)
        }
    }

    func testARedirectDoesNotConfirmABatch() async throws {
        let server = try rudeServer { _ in "302 Found\nLocation: /elsewhere" }
        let queue = try await queue(1)
        let uploader = RecordUploader(
            queue, to: .web(try VenueServer(server.url, patience: Self.patience)), device: "a", settings: settings(),
            clock: ManualClock())
        let errors = uploader.errors
        try await uploader.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.status, 302)
        await uploader.stop()
        XCTAssertEqual(server.requests.count, 1)
        let waiting = try await queue.waiting
        XCTAssertEqual(waiting, 1)
    }

    func testTheUploaderPublishesABatchOnceTheBrokerIsReachable() async throws {
        let mosquitto = try MosquittoBroker(folder: try temporaryFolder())
        nonisolated(unsafe) let killed = mosquitto
        addTeardownBlock { killed.kill() }
        let broker = MQTTBroker(host: "127.0.0.1", port: mosquitto.port)
        let clock = ManualClock()
        mosquitto.kill()
        let uploader = RecordUploader(
            try await queue(2), to: .broker(broker, topic: "tags/forklift"), device: "forklift", settings: settings(),
            clock: clock, seed: 1)
        let (errors, confirmed) = (uploader.errors, uploader.confirmed)
        try await uploader.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.kind, .unreachable)
        try mosquitto.restart()
        let (link, events) = MQTTLink.open(broker, clientID: "reader", will: nil, keepAliveSeconds: 60)
        link.ask(.subscribe("tags/+", .atLeastOnce))
        _ = try await Bounded.wait(for: "the subscription") {
            await events.first { if case .subscribed = $0 { true } else { false } }
        }
        try await ring(clock)
        // On a busy machine, an attempt can exceed its time limit.
        let again = Task {
            for await _ in errors { clock.advance(to: try await clock.waitForSleeper()) }
        }
        defer { again.cancel() }
        let batch = try await Bounded.first(1, of: confirmed)[0]
        let message = try await Bounded.wait(for: "the batch") { () -> MQTTMessage? in
            for await event in events { if case .received(let message) = event { return message } }
            return nil
        }
        XCTAssertEqual(message?.topic, "tags/forklift")
        let read = try ReadBatch(try XCTUnwrap(message).payload)
        XCTAssertEqual(read.batch, batch.id)
        XCTAssertEqual(read.records.map(\.number), [1, 2])
        link.ask(.close)
        await uploader.stop()
        let counts = try await uploader.counts
        XCTAssertEqual(counts.sent, 2)
    }

    func testNewSettingsShortenTheQueueAndInvalidOnesChangeNothing() async throws {
        let uploader = RecordUploader(
            try await queue(10), to: .web(try VenueServer("http://127.0.0.1:1")), device: "a")
        var settings = settings()
        settings.queueSize = 0
        try await uploader.setSettings(settings)
        var counts = try await uploader.counts
        XCTAssertEqual(counts.waiting, 10)
        settings.queueSize = 4
        try await uploader.setSettings(settings)
        counts = try await uploader.counts
        XCTAssertEqual(counts.waiting, 4)
        XCTAssertEqual(counts.dropped, 6)
    }
}

/// The time at which a batch is sent, and the treatment of a batch that failed.
final class UploadMachineTests: XCTestCase {
    private func settings(size: Int = 10, interval: Duration = .seconds(60)) -> UploadSettings {
        var settings = UploadSettings()
        settings.batchSize = size
        settings.interval = interval
        return settings
    }

    private func machine(_ settings: UploadSettings, waiting: Int = 0) -> UploadMachine {
        var machine = UploadMachine(settings, seed: 1)
        _ = machine.handle(.start(waiting: waiting), at: .zero)
        return machine
    }

    private func seconds(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    func testTheRecordsOfAnEarlierRunAreSentImmediately() {
        var machine = UploadMachine(settings(), seed: 1)
        XCTAssertEqual(machine.handle(.start(waiting: 3), at: .zero), [.send(size: 10, anew: false)])
        XCTAssertEqual(machine.state, .sending)
        var idle = UploadMachine(settings(), seed: 1)
        XCTAssertEqual(idle.handle(.start(waiting: 0), at: .zero), [])
        XCTAssertNil(idle.nextWake)
    }

    func testABatchIsSentAnIntervalAfterItsFirstRecordOrWhenItIsFull() {
        var machine = machine(settings())
        XCTAssertEqual(machine.handle(.queued(waiting: 1), at: seconds(5)), [])
        XCTAssertEqual(machine.handle(.queued(waiting: 9), at: seconds(20)), [])
        XCTAssertEqual(machine.nextWake, seconds(65))
        XCTAssertEqual(machine.handle(.tick, at: seconds(64.9)), [])
        XCTAssertEqual(machine.handle(.tick, at: seconds(65)), [.send(size: 10, anew: false)])
        XCTAssertEqual(machine.handle(.queued(waiting: 30), at: seconds(66)), [], "one batch at a time")
        XCTAssertEqual(machine.handle(.removed(waiting: 21), at: seconds(67)), [.send(size: 10, anew: false)])
        XCTAssertEqual(machine.handle(.removed(waiting: 1), at: seconds(68)), [])
        XCTAssertEqual(machine.nextWake, seconds(128))
        XCTAssertEqual(machine.handle(.queued(waiting: 10), at: seconds(70)), [.send(size: 10, anew: false)])
    }

    func testPausesGrowWhileTheNetworkIsDownAndResetAfterASuccess() {
        var machine = machine(settings(), waiting: 1)
        let away = UploadError(.unreachable, "away")
        var pauses: [Double] = []
        var now = seconds(0)
        for _ in 0..<8 {
            XCTAssertEqual(machine.handle(.failed(away), at: now), [.report(away)])
            let wake = machine.nextWake ?? now
            pauses.append(now.duration(to: wake).seconds)
            XCTAssertEqual(machine.handle(.queued(waiting: 1000), at: now), [], "it waits for the network")
            now = wake
            XCTAssertEqual(machine.handle(.tick, at: now), [.send(size: 10, anew: false)])
        }
        for (pause, longest) in zip(pauses, [5.0, 10, 20, 40, 60, 60, 60, 60]) {
            XCTAssertLessThanOrEqual(pause, longest)
            XCTAssertGreaterThanOrEqual(pause, longest / 2)
        }
        _ = machine.handle(.removed(waiting: 0), at: now)
        _ = machine.handle(.queued(waiting: 10), at: now)
        _ = machine.handle(.failed(away), at: now)
        XCTAssertLessThanOrEqual(machine.nextWake ?? now, now.advanced(by: .seconds(5)))
    }

    func testARefusedBatchIsSentAgainAtTheInterval() {
        var machine = machine(settings(), waiting: 1)
        let refusal = UploadError(.refused, status: 401, "no")
        XCTAssertEqual(machine.handle(.failed(refusal), at: seconds(1)), [.report(refusal)])
        XCTAssertEqual(machine.nextWake, seconds(61))
    }

    func testATooLargeBatchIsHalvedDownToOneRecordWhichIsDiscarded() {
        var machine = machine(settings(size: 4), waiting: 4)
        let error = UploadError(.tooLarge, status: 413, "too large")
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .send(size: 2, anew: true)])
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .send(size: 1, anew: true)])
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .reject])
        XCTAssertEqual(machine.handle(.removed(waiting: 3), at: .zero), [.send(size: 1, anew: false)])
    }

    /// Otherwise, the whole batch would be discarded once the size is a single record.
    func testATooLargeBatchIsDividedAfterAStopOrAnErrorOfTheQueue() {
        let (error, locked) = (UploadError(.tooLarge, status: 413, "too large"), UploadError(.queue, "locked"))
        var machine = machine(settings(size: 2), waiting: 2)
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .send(size: 1, anew: true)])
        _ = machine.handle(.stop, at: .zero)
        XCTAssertEqual(machine.handle(.start(waiting: 2), at: .zero), [.send(size: 1, anew: true)])
        XCTAssertEqual(machine.handle(.failed(locked), at: .zero), [.report(locked)])
        let wake = machine.nextWake ?? .zero
        XCTAssertEqual(machine.handle(.tick, at: wake), [.send(size: 1, anew: true)])
        XCTAssertEqual(machine.handle(.removed(waiting: 1), at: wake), [.send(size: 1, anew: false)])
    }

    /// Lets a server with a limit confirm a number of batches; returns the sizes of those that were too large for it.
    ///
    /// - Parameter size: the size of the batch that is being sent.
    private func refused(_ machine: inout UploadMachine, size: inout Int, confirmed: Int, limit: Int) -> [Int] {
        var refused: [Int] = []
        var count = 0
        while count < confirmed {
            let isTooLarge = size > limit
            if isTooLarge { refused.append(size) } else { count += 1 }
            let event: UploadMachine.Event =
                isTooLarge ? .failed(UploadError(.tooLarge, status: 413, "too large")) : .removed(waiting: 1_000)
            guard case .send(let next, let anew)? = machine.handle(event, at: .zero).last else {
                XCTFail("nothing is sent after \(event)")
                break
            }
            XCTAssertEqual(anew, isTooLarge)
            size = next
        }
        return refused
    }

    func testAHalvedBatchGrowsAgainUpToTheSizeOfTheSettings() {
        var machine = machine(settings(), waiting: 1_000)
        var size = 10
        XCTAssertEqual(refused(&machine, size: &size, confirmed: 1, limit: 2), [10, 5])
        XCTAssertEqual(size, 2)
        XCTAssertEqual(refused(&machine, size: &size, confirmed: 100, limit: 10), [], "the limit was raised")
        XCTAssertEqual(size, 10)
    }

    func testALargerBatchIsTriedEverMoreSeldomWhileTheServerRefusesIt() {
        var machine = machine(settings(), waiting: 1_000)
        var size = 10
        XCTAssertEqual(
            refused(&machine, size: &size, confirmed: 250, limit: 5), [10, 10, 10, 10, 10],
            "at first, and after 16, 32, 64 and 128 further batches")
    }

    func testARejectedBatchDoesNotBlockTheOthers() {
        var machine = machine(settings(), waiting: 15)
        let error = UploadError(.rejected, status: 422, "no")
        XCTAssertEqual(machine.handle(.failed(error), at: .zero), [.report(error), .reject])
        XCTAssertEqual(machine.handle(.removed(waiting: 12), at: .zero), [.send(size: 10, anew: false)])
    }

    func testAStopCancelsTheBatchAndLateAnswersHaveNoEffect() {
        var machine = machine(settings(), waiting: 1)
        XCTAssertEqual(machine.handle(.stop, at: .zero), [.cancel])
        XCTAssertEqual(machine.handle(.removed(waiting: 20), at: .zero), [])
        XCTAssertEqual(machine.handle(.queued(waiting: 20), at: .zero), [])
        XCTAssertEqual(machine.state, .stopped)
        XCTAssertNil(machine.nextWake)
    }

    func testOtherSettingsApplyFromTheNextBatchOn() {
        var machine = machine(settings())
        _ = machine.handle(.queued(waiting: 1), at: .zero)
        XCTAssertEqual(machine.handle(.change(settings(size: 3, interval: .seconds(1))), at: .zero), [])
        XCTAssertEqual(machine.handle(.queued(waiting: 3), at: .zero), [.send(size: 3, anew: false)])
    }
}

extension RecordUploader {
    /// Begins to start, stops while the start waits for the queue, and returns the state after both.
    fileprivate func startAndStop() async throws -> UploadMachine.State {
        let start = Task.immediate { try await self.start() }
        await stop()
        try await start.value
        return upload.machine.state
    }
}
