import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LocalizationSession
import LoopbackServers
import RecordUpload
import SecretFiles
import TagTracking
import XCTest
@testable import TagTrackingService

/// The queue of alerts on disk, and their deliveries to real web servers.
final class AlertDeliveryTests: XCTestCase {
    private static let start = Instant(nanoseconds: 1_795_338_000_000_000_000)
    private static let keyText = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func folder() throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        return path
    }

    private static func event(_ number: Int, at seconds: Double = 0) -> AlertEvent {
        AlertEvent(
            id: "1-\(number)", alert: "1-\(number)", state: .raised, rule: "A", condition: .enters, area: "Ward",
            tag: .name("cart"), name: "Cart", instant: start.advanced(by: .seconds(seconds)), since: start)
    }

    /// A webhook that gets no request twice because a busy machine is late.
    private func webhook(
        _ url: String, key: WebhookKey? = nil, certificateAuthority: String? = nil
    ) throws -> AlertWebhook {
        try AlertWebhook(url, key: key, certificateAuthority: certificateAuthority, patience: Bounded.longest)
    }

    /// Deliveries that report into a list.
    private func deliveries(
        _ webhook: AlertWebhook, _ store: AlertStore, _ reports: WatchedState<[String]> = WatchedState([])
    ) -> AlertDeliveries {
        AlertDeliveries(
            webhook, store, firstPause: .milliseconds(5), now: { Self.start.advanced(by: .seconds(10)) },
            note: { text in reports.update { $0.append(text) } })
    }

    private func header(_ name: String, of request: String) -> String? {
        request.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    // MARK: Signatures

    func testASignatureIsThatOfTheExampleOfStandardWebhooks() throws {
        // The example of the libraries of Standard Webhooks.
        let key = try XCTUnwrap(WebhookKey(Self.keyText))
        XCTAssertEqual(
            key.signature(
                of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: 1_614_265_330),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        for text in [
            "", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_" + String(repeating: "A", count: 92),
        ] {
            XCTAssertNil(WebhookKey(text), text)
        }
        XCTAssertEqual(
            "\(key) \(String(reflecting: key))", "the key of a webhook (hidden) the key of a webhook (hidden)")
    }

    func testAKeyFileThatOthersCanReadIsRefused() throws {
        let path = try folder() + "/key"
        try Data((Self.keyText + "\n").utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        XCTAssertEqual(try WebhookKey(file: SecretFile(path, .key)), WebhookKey(Self.keyText))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        XCTAssertThrowsError(try WebhookKey(file: SecretFile(path, .key, option: "alert-key"))) { error in
            XCTAssertTrue("\(error)".contains("chmod 600"), "\(error)")
        }
        try Data("secret\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        XCTAssertThrowsError(try WebhookKey(file: SecretFile(path, .key, option: "alert-key"))) { error in
            XCTAssertTrue("\(error)".hasPrefix("--alert-key \(path): the first line must be 'whsec_'"), "\(error)")
        }
    }

    func testAnAddressThatOthersCanReadIsRefused() {
        for url in ["http://example.org/hook", "ftp://example.org", "https://user@example.org", "nothing"] {
            XCTAssertThrowsError(try AlertWebhook(url), url)
        }
        XCTAssertNoThrow(try AlertWebhook("https://example.org/hook"))
        XCTAssertNoThrow(try AlertWebhook("http://127.0.0.1:1/hook"))
    }

    // MARK: Deliveries

    func testEventsAreDeliveredInTheirOrderWithTheirSignature() async throws {
        let server = try RudeServer { _, _ in .with("HTTP/1.1 204 No Content\nContent-Length: 0") }
        defer { server.stop() }
        let key = try XCTUnwrap(WebhookKey(Self.keyText))
        let store = try AlertStore(path: try folder() + "/alerts.db")
        let events = (1...3).map { Self.event($0) }
        try await store.add(events, [], isDelivered: true)
        let deliveries = deliveries(try webhook(server.url + "/hook", key: key), store)
        await deliveries.start()
        try await Bounded.poll(for: "deliveries") { try await store.waiting == 0 }
        await deliveries.stop()
        XCTAssertEqual(server.requests.map { header("webhook-id", of: $0) }, ["1-1", "1-2", "1-3"])
        for (request, event) in zip(server.requests, events) {
            XCTAssertTrue(request.hasPrefix("POST /hook HTTP/1.1\r\n"), request)
            XCTAssertTrue(request.hasSuffix("\r\n\r\n" + event.json), request)
            let time = try XCTUnwrap(header("webhook-timestamp", of: request).flatMap { Int64($0) })
            XCTAssertEqual(
                header("webhook-signature", of: request), key.signature(of: event.jsonBytes, id: event.id, time: time))
        }
    }

    func testAStopDuringAStartKeepsTheDeliveriesStopped() async throws {
        let server = try RudeServer { _, _ in .with("HTTP/1.1 204 No Content\nContent-Length: 0") }
        defer { server.stop() }
        let store = try AlertStore(path: try folder() + "/alerts.db")
        try await store.add([Self.event(1)], [], isDelivered: true)
        let deliveries = deliveries(try webhook(server.url), store)
        let state = await deliveries.startAndStop()
        XCTAssertEqual(state, .stopped)
        XCTAssertEqual(server.requests, [])
        await deliveries.start()
        try await Bounded.poll(for: "the delivery") { try await store.waiting == 0 }
        await deliveries.stop()
    }

    func testAServerThatFailsGetsTheSameEventAgain() async throws {
        let count = WatchedState(0)
        let server = try RudeServer { _, _ in
            count.update { $0 += 1 }
            return .with("HTTP/1.1 \(count.value <= 3 ? "503 Service Unavailable" : "200 OK")\nContent-Length: 0")
        }
        defer { server.stop() }
        let store = try AlertStore(path: try folder() + "/alerts.db")
        let reports = WatchedState<[String]>([])
        let deliveries = deliveries(try webhook(server.url), store, reports)
        await deliveries.start()
        try await store.add([Self.event(1), Self.event(2)], [], isDelivered: true)
        await deliveries.continueSending()
        try await Bounded.poll(for: "deliveries") { try await store.waiting == 0 }
        await deliveries.stop()
        XCTAssertEqual(
            server.requests.map { header("webhook-id", of: $0) }, ["1-1", "1-1", "1-1", "1-1", "1-2"])
        XCTAssertEqual(reports.value.count, 2, "\(reports.value)")
        XCTAssertTrue(reports.value[0].contains("503"), "\(reports.value)")
        XCTAssertEqual(reports.value.last, "the webhook accepts events again")
    }

    func testARefusalOfAnEventSpeaksOfTheWebhook() async throws {
        for status in [401, 403] {
            let server = try RudeServer { _, _ in .with("HTTP/1.1 \(status) No\nContent-Length: 0") }
            defer { server.stop() }
            let webhook = try webhook(server.url)
            do throws(UploadError) {
                try await webhook.send([], id: "1-1", at: 0)
                XCTFail("nothing was thrown")
            } catch {
                XCTAssertEqual(error.kind, .refused)
                XCTAssertEqual(error.status, status)
                XCTAssertEqual(
                    error.description,
                    "the webhook refused the event (status \(status) for \(server.url)); check its address, and the key "
                        + "of the signatures")
            }
        }
    }

    func testAnEventThatTheServerNeverAcceptsDoesNotBlockTheOthers() async throws {
        let server = try RudeServer { _, request in
            .with("HTTP/1.1 \(request.contains("webhook-id: 1-1") ? "422 No" : "200 OK")\nContent-Length: 0")
        }
        defer { server.stop() }
        let store = try AlertStore(path: try folder() + "/alerts.db")
        let deliveries = deliveries(try webhook(server.url), store)
        try await store.add([Self.event(1), Self.event(2)], [], isDelivered: true)
        await deliveries.start()
        try await Bounded.poll(for: "deliveries") { try await store.waiting == 0 }
        await deliveries.stop()
        XCTAssertEqual(server.requests.map { header("webhook-id", of: $0) }, ["1-1", "1-2"])
        XCTAssertNil(header("webhook-signature", of: server.requests[0]), "without a key")
    }

    func testNginxReceivesEventsOverTLSOnlyFromATrustedAuthority() async throws {
        let folder = try folder()
        let authority = try TestAuthority(in: folder)
        let nginx = try NginxServer(
            root: folder, folder: folder,
            NginxServer.Configuration(location: "return 204;", identity: authority.identity))
        defer { nginx.stop() }
        let store = try AlertStore(path: folder + "/alerts.db")
        try await store.add([Self.event(1), Self.event(2)], [], isDelivered: true)
        let reports = WatchedState<[String]>([])
        let untrusted = deliveries(try AlertWebhook(nginx.url(scheme: "https") + "/hook"), store, reports)
        await untrusted.start()
        try await Bounded.wait(for: "a report") { try await reports.wait { !$0.isEmpty } }
        await untrusted.stop()
        let waiting = try await store.waiting
        XCTAssertEqual(waiting, 2)
        let trusted = deliveries(
            try webhook(nginx.url(scheme: "https") + "/hook", certificateAuthority: authority.certificate), store)
        await trusted.start()
        try await Bounded.poll(for: "deliveries") { try await store.waiting == 0 }
        await trusted.stop()
        XCTAssertEqual(try nginx.stopAndTellRequests().map(\.status), [204, 204])
    }

    // MARK: Limits

    func testTooManyAndTooOldEventsAreDroppedAndCounted() async throws {
        var limits = AlertStore.Limits()
        limits.count = 3
        limits.age = .seconds(100)
        let path = try folder() + "/alerts.db"
        let store = try AlertStore(path: path, limits: limits)
        try await store.add((1...5).map { Self.event($0, at: Double($0)) }, [1], isDelivered: true)
        var dropped = await store.droppedCount
        XCTAssertEqual(dropped, 2)
        let next = try await store.next(at: Self.start.advanced(by: .seconds(104.5)))
        XCTAssertEqual(next?.id, "1-5")
        dropped = await store.droppedCount
        XCTAssertEqual(dropped, 4)
        try await store.add([Self.event(6)], [2], isDelivered: false)
        let (waiting, state) = (try await store.waiting, try await store.begin())
        XCTAssertEqual(waiting, 1)
        XCTAssertEqual(state.snapshot, [2])
        XCTAssertEqual(try state.latest.map { try AlertEvent(json: $0).id }, (1...6).map { "1-\($0)" })
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
    }

    func testAnotherFileIsRefused() throws {
        let path = try folder() + "/alerts.db"
        try Data("no database, but a text of some length".utf8).write(to: URL(filePath: path))
        XCTAssertThrowsError(try AlertStore(path: path)) { error in
            XCTAssertTrue("\(error)".contains("not a file of alerts; move it away"), "\(error)")
        }
    }
}

extension AlertDeliveries {
    /// Begins to start, stops while the start waits for the queue, and returns the state after both.
    fileprivate func startAndStop() async -> UploadMachine.State {
        let start = Task.immediate { await self.start() }
        await stop()
        await start.value
        return upload.machine.state
    }
}
