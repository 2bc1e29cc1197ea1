import LoopbackServers
import XCTest

extension XCTestCase {
    /// An nginx that serves the folder until the end of the test.
    func nginx(
        serving root: String, _ configuration: NginxServer.Configuration = NginxServer.Configuration()
    ) throws -> NginxServer {
        let server = try NginxServer(root: root, folder: try temporaryFolder(), configuration)
        addTeardownBlock { server.stop() }
        return server
    }

    /// A rude server until the end of the test.
    func rudeServer(_ answer: @escaping @Sendable (_ path: String, _ request: String) -> RudeServer.Answer) throws
        -> RudeServer
    {
        let server = try RudeServer(answer)
        addTeardownBlock { server.stop() }
        return server
    }
}
