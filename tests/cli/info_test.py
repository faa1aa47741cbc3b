"""cuprum info shows what softgpu was told to be."""

import json
import unittest

from cli import CommandTest, fake


class Info(CommandTest):
    def test_shows_the_devices(self):
        result = self.run_cuprum("info", SOFTGPU_DEVICES=2, SOFTGPU_MEMORY="512M", SOFTGPU_MULTIPROCESSORS=7)
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("Driver softgpu", "Device 0:", "Device 1:", "compute capability", "512.0 MiB", "1024 x 1024 x 64",
                      "Access to the memory of other devices"):
            self.assertIn(words, result.stdout)
        self.assertRegex(result.stdout, r"Multiprocessors\n +number +7\n")
        self.assertNotIn("max_threads_per_block", result.stdout)

    def test_shows_one_device_and_all_about_it(self):
        result = self.run_cuprum("info", "--device", "1", "--all", SOFTGPU_DEVICES=2)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("Device 0:", result.stdout)
        self.assertRegex(result.stdout, r"max_threads_per_block +1024\n")
        self.assertRegex(result.stdout, r"unified_addressing +true\n")

    def test_tells_programs_everything(self):
        result = self.run_cuprum("info", "--json", SOFTGPU_DEVICES=3, SOFTGPU_COMPUTE_CAPABILITY="8.6")
        report = json.loads(result.stdout)
        self.assertEqual(report["driver"]["name"], "softgpu")
        self.assertEqual([device["id"] for device in report["devices"]], [0, 1, 2])
        device = report["devices"][0]
        self.assertEqual((device["compute_capability"], device["architecture"]), ("8.6", "sm_86"))
        self.assertEqual(device["properties"]["compute_capability_major"], 8)
        self.assertIs(device["properties"]["unified_addressing"], True)
        self.assertGreater(len(device["properties"]), 140)
        self.assertEqual(device["accesses"], [1, 2])
        self.assertGreater(device["memory"], 0)
        self.assertEqual((device["state"]["memory_used_bytes"], device["state"]["gpu_utilization_percent"]), (0, 0))
        self.assertNotIn("power_milliwatts", device["state"])

    def test_adds_what_nvml_knows(self):
        result = self.run_cuprum("info", "--json", CUPRUM_NVML=fake("GPU_STATE"))
        self.assertEqual(json.loads(result.stdout)["devices"][0]["state"], {
            "memory_used_bytes": 1 << 30, "gpu_utilization_percent": 17, "memory_utilization_percent": 5,
            "temperature_celsius": 41, "power_milliwatts": 123456})
        processes = json.loads(result.stdout)["devices"][0]["processes"]
        self.assertEqual(len(processes), 100)
        self.assertEqual(processes[0], {"pid": 1000, "name": "/usr/bin/train", "memory_bytes": 1 << 20})
        self.assertEqual(processes[-1], {"pid": 1099, "name": "", "memory_bytes": 100 << 20})
        self.assertEqual(processes[-2], {"pid": 1098, "name": "/usr/bin/train", "memory_bytes": None})  # not told
        text = self.run_cuprum("info", CUPRUM_NVML=fake("GPU_STATE")).stdout
        self.assertRegex(text, r"(?m)^    1098  /usr/bin/train +\?$")
        for words in ("1.0 GiB of 4.0 GiB", "41 °C", "123 W", "17 %", "1000  /usr/bin/train"):
            self.assertIn(words, text)
        self.assertIn("1001  /home/somebody/projects/train/.venv/bin/python  2.0 MiB\n", text)

    def test_refuses_a_device_that_is_not_there(self):
        result = self.run_cuprum("info", "--device=3")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--device is 3, and there are 1 devices, counted from 0", result.stderr)

    def test_says_why_there_is_no_driver(self):
        result = self.run_cuprum("info", CUPRUM_SOFTGPU_PATH="/no/such/libcuda.so.1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cuprum info: softgpu is not installed: there is no /no/such/libcuda.so.1", result.stderr)


if __name__ == "__main__":
    unittest.main()
