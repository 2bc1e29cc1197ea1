import Foundation
import LoopbackServers
import XCTest

extension XCTestCase {
    /// A broker that runs until the test ends.
    ///
    /// - Parameter accessList: the lines of mosquitto's access list; nil permits everything.
    func broker(accessList: String? = nil) throws -> MosquittoBroker {
        let folder = try temporaryFolder()
        var configuration = MosquittoBroker.Configuration()
        if let accessList {
            try Data(accessList.utf8).write(to: URL(filePath: folder + "/access"))
            configuration.listener += "\nacl_file \(folder)/access"
        }
        let broker = try MosquittoBroker(folder: folder, configuration)
        // XCTest requires a Sendable block; it runs after the test, when nothing else uses the broker.
        nonisolated(unsafe) let stopped = broker
        addTeardownBlock { stopped.kill() }
        return broker
    }
}
