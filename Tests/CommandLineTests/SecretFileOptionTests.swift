import Foundation
import LoopbackServers
import XCTest

/// The permissions of files with secrets, for each option that names such a file.
final class SecretFileOptionTests: XCTestCase {
    /// A command that reads the file of an option, and ends with another error if the file is accepted.
    private struct Use {
        let option: String
        let program: String
        let words: [String]

        init(_ option: String, _ words: [String], program: String = "indoorloc") {
            (self.option, self.words, self.program) = (option, words, program)
        }

        func run(_ file: String) throws -> Tool.Result {
            let folder = URL(filePath: try Tool.path()).deletingLastPathComponent()
            return try Tool.run(words + ["--" + option, file], program: folder.appending(path: program).path)
        }
    }

    /// - Parameter folder: a folder for what the commands store.
    private static func uses(in folder: String) -> [Use] {
        func serve(_ option: String, _ words: String...) -> Use {
            Use(option, ["serve", "--venue", "/nowhere", "--state-directory", folder] + words)
        }
        func fleet(_ option: String, _ words: String...) -> Use { Use(option, words, program: "indoorloc-fleet") }
        let server = "https://127.0.0.1:1"
        let (setup, nats) = ("setup", "nats://127.0.0.1:1")
        return [
            Use("token-file", ["venue", "fetch", "--cache", folder, "--server", server]),
            Use("user-file", ["venue", "fetch", "--cache", folder, "--server", server]),
            serve("http-token-file", "--http", "127.0.0.1:0"),
            serve("upload-token-file", "--upload-beacons", "--upload-url", server),
            serve("upload-password-file", "--upload-beacons", "--upload-url", server),
            serve("upload-password-file", "--upload-beacons", "--upload-url", "mqtt://cart@127.0.0.1/tags"),
            serve("settings-token-file", "--settings-url", server + "/settings.json"),
            serve("share-password-file", "--share", "mqtt://cart@127.0.0.1/hall"),
            serve("share-sign-key", "--share", "mqtt://127.0.0.1/hall"),
            Use("publish-password-file", ["scan", "--replay", "/nowhere", "--publish", "mqtt://cart@127.0.0.1/site"]),
            Use("broker-password-file", ["track", "--venue", "/nowhere", "--broker", "mqtt://cart@127.0.0.1"]),
            fleet("nats-user-file", setup, "--nats", nats),
            fleet("nats-credentials", setup, "--nats", nats),
            fleet("nats-key", setup, "--nats", nats, "--nats-certificate", "/nowhere"),
            fleet("nats-certificate", setup, "--nats", nats),
            fleet("password-file", "store", "--nats", nats, "--keep-days", "0"),
        ]
    }

    func testEachOptionRefusesASecretThatOtherUsersCanRead() throws {
        let (file, folder) = try (temporaryFolder() + "/secret", temporaryFolder())
        // A login, but also a token and a password.
        try SecretText.write("a:bcdefghijklmnopqrstuvwxyz\n", to: file)
        for use in Self.uses(in: folder) {
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let refused = try use.run(file)
            XCTAssertEqual(refused.status, 1, "--\(use.option): \(refused.errors)")
            for text in ["--\(use.option) \(file): its mode 0644 lets every user", "use 'chmod 600 \(file)'"] {
                XCTAssertTrue(refused.errors.contains(text), refused.errors)
            }
            XCTAssertFalse(refused.errors.contains("bcdef"), refused.errors)
            // The mode of systemd's credentials with an access list.
            try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: file)
            let accepted = try use.run(file)
            XCTAssertNotEqual(accepted.status, 0, "--\(use.option)")
            XCTAssertFalse(accepted.errors.contains("chmod"), accepted.errors)
        }
    }

    func testTheTestCoversEachOptionForASecret() throws {
        let endings = ["token-file", "user-file", "password-file", "-key", "-credentials", "-certificate"]
        let options = Set(try DescribedProgram.all().flatMap(\.commands).flatMap(\.longOptions)).filter { option in
            endings.contains(where: option.hasSuffix) && !option.hasSuffix("-plain-credentials")
                && option != "--plain-credentials"
        }
        XCTAssertEqual(options.sorted(), Set(Self.uses(in: "").map { "--" + $0.option }).sorted())
    }

    func testASecretFromAPipeIsReadWhateverItsMode() throws {
        let pipe = try temporaryFolder() + "/pipe"
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        XCTAssertEqual(chmod(pipe, 0o666), 0)
        let port = try TestPort.free()
        let script = """
            printf 'a-password\\n' > "$1" &
            exec "$0" share watch mqtt://cart@127.0.0.1:\(port)/hall --share-password-file "$1"
            """
        let result = try Tool.run(["-c", script, try Tool.path(), pipe], program: "/bin/sh")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("no broker is reachable at 127.0.0.1:\(port)"), result.errors)
    }
}
