import Foundation
import IndoorLocalizationTesting
import LoopbackServers

/// A web server for uploads that answers all requests with the same response.
final class UploadServer: Sendable {
    /// A received record.
    struct Record: Hashable, Sendable {
        var type: String
        var number: Int
    }

    private let server: RudeServer
    private let arrived = WatchedState<[Record]>([])

    init(_ status: String) throws {
        let arrived = arrived
        server = try RudeServer { _, request in
            let records = Self.records(of: request)
            arrived.update { $0 += records }
            return .with("HTTP/1.1 \(status)\nContent-Length: 0")
        }
    }

    var url: String { server.url }
    /// All requests, with their bodies.
    var requests: [String] { server.requests }
    /// All records so far, including rejected ones.
    var records: [Record] { arrived.value }

    /// Waits until the records satisfy the condition.
    func wait(until condition: @escaping @Sendable ([Record]) -> Bool) async throws {
        let arrived = arrived
        try await Bounded.wait(for: "records") { try await arrived.wait(until: condition) }
    }

    func stop() { server.stop() }

    private static func records(of request: String) -> [Record] {
        let body = request.components(separatedBy: "\r\n\r\n").last ?? ""
        let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return (object?["records"] as? [[String: Any]] ?? []).compactMap { record in
            guard let type = record["type"] as? String, let number = record["number"] as? Int else { return nil }
            return Record(type: type, number: number)
        }
    }
}
