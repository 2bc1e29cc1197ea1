import LoopbackServers
import XCTest

extension XCTestCase {
    /// A broker that runs until the test ends.
    func broker() throws -> MosquittoBroker {
        let broker = try MosquittoBroker(folder: try temporaryFolder())
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }
}
